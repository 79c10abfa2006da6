// The built-in rules of neardup_clean(): what pages in English and Chinese carry besides their text. Each demands a whole
// short line or a phrase that articles do not use; `.` with a bound stands at the end of a pattern only, since at its
// start it would make the search slow. Rules for English are in ASCII, so that databases in any encoding can show them.
#include "core/clean.h"

namespace neardup {

// clang-format off
const BuiltInRule kDefaultRules[] = {
    // Reader comments, to the end.
    {"comments-en", RuleKind::tail,
     R"re((?i)^[\s*#=-]*(?:(?:\d+ +)?(?:(?:reader|user|recent|latest|all|top) +)?comments?(?: *\(\d+\)| +\d+)?|leave a (?:reply|comment)\b.{0,40}|\d+ (?:responses?|thoughts?|repl(?:y|ies)|comments?) (?:to|on)\b.{0,160}|(?:post|add|write) a comment|join the (?:conversation|discussion)|what do you think\?)\s*[:.!]?\s*$)re", ""},
    {"comments-zh", RuleKind::tail,
     R"re(^[\s　*#=-]*(?:(?:网友|網友|读者|讀者|用户|用戶|最新|热门|熱門|精彩|全部|相关|相關|发表|發表|我要|查看)?(?:评论|評論|留言|跟帖)区?|評論區|书友评论|書友評論)\s*(?:[（(]?\s*(?:共\s*)?\d+\s*[条條则則篇]?\s*[)）]?)?\s*[:：]?\s*$)re", ""},
    // Advertisements.
    {"advertisement-en", RuleKind::line,
     R"re((?i)^[\s*\[(-]*(?:advertisements?|advertorial|sponsored(?: content| links?| post| stories)?|promoted(?: content| stories)?|ad ?choices|(?:story|article|text|content) continues below(?: (?:this )?ad(?:vertisement)?)?|continue reading below|scroll (?:down )?to continue(?: (?:reading|with content))?|(?:buy|order|shop) now(?: and save\b.{0,60})?|you (?:may|might) also like|recommended (?:for you|stories|videos?)|from our (?:partners|sponsors))[\s*\])-]*[:.!]?\s*$)re", ""},
    {"advertisement-zh", RuleKind::line,
     R"re(^[\s　]*[【\[（(]?\s*(?:广告|廣告|推广|推廣|赞助内容|贊助內容|赞助商链接|猜你喜欢|猜你喜歡|相关推荐|相關推薦|为您推荐|為您推薦|热门推荐|熱門推薦)\s*[】\]）)]?\s*[:：]?\s*$)re", ""},
    {"promotion-zh", RuleKind::line,
     R"re(扫(?:描|一扫)?(?:下方|上方|下面|右侧)?(?:的)?二维码|掃(?:描|一掃)?(?:下方|上方)?(?:的)?(?:二維碼|QR ?[Cc]ode)|(?:关注|關注|搜索|搜尋)(?:本站|我们|我們)?(?:的)?(?:微信)?(?:公众号|公眾號|微信号|微信號|订阅号)|微信公众号[:：]|(?:书友|書友|读者|讀者|交流|粉丝)(?:QQ)?群(?:号|號)?[:：]|加(?:微信|QQ)[:：]?\s*[0-9A-Za-z]|点击(?:下载|下載)(?:客户端|APP|app)|點擊下載APP)re", ""},
    // Notices of the site.
    {"cookies-en", RuleKind::line,
     R"re((?i)\b(?:we|this (?:web)?site|our (?:web)?sites?) uses? cookies\b|\bby continuing to (?:use|browse) (?:this|our|the) (?:web)?site\b|^\s*(?:accept (?:all )?cookies|cookie (?:policy|settings|preferences|notice))\s*$)re", ""},
    {"subscribe-en", RuleKind::line,
     R"re((?i)^[\s*>-]*(?:please )?(?:subscribe|sign ?up|sign in|log ?in|register)(?: (?:now|today|here|free))?(?: (?:to|for|with|and)\b.{0,80})?\s*[.!:\x{bb}>]*\s*$)re", ""},
    {"page-furniture-en", RuleKind::line,
     R"re((?i)^[\s*>|-]*(?:share (?:this|on|via|with)\b.{0,50}|share|follow us\b.{0,60}|click here(?: to\b.{0,60})?|(?:read|see|view|load|show) (?:more|all)(?: ?(?:comments|stories|articles|[:>\x{bb}]).{0,120})?|(?:related|more|popular|latest|top) (?:articles?|posts?|stories|news|links|topics|coverage)|also read ?:.{0,150}|back to top|skip to (?:main )?(?:content|navigation)|print this (?:page|article)|(?:home|menu|search|close|print|email|tweet|next|previous|loading\.{0,3})|(?:terms of (?:use|service)|privacy policy|contact us|about us)(?:[\s|\x{b7}\x{2022},-]+(?:terms of (?:use|service)|privacy policy|contact us|about us|sitemap|careers))*|(?:facebook|twitter|linkedin|whatsapp|pinterest|reddit|telegram|instagram|youtube)(?:[\s|\x{b7}\x{2022},/-]+(?:facebook|twitter|linkedin|whatsapp|pinterest|reddit|telegram|instagram|youtube|email|print))*)[\s.!:\x{bb}>\x{2026}]*$)re", ""},
    {"copyright-en", RuleKind::line,
     R"re((?i)^\s*(?:copyright\b|\x{a9}|\(c\) ?(?:19|20)\d\d).{0,200}$|^.{0,3}all rights reserved\b.{0,100}$|^\s*this material may not be published, broadcast, rewritten)re", ""},
    {"copyright-zh", RuleKind::line,
     R"re(^[\s　*※]*[【（(]?(?:版权所有|版權所有|版权声明|版權聲明|免责声明|免責聲明|未经(?:授权|许可|书面)|未經(?:授權|許可|書面)|转载请(?:注明|联系)|轉載請(?:註明|聯繫)|本文(?:转载|轉載)自|本文系.{0,12}(?:转载|原创)|声明[:：]|聲明[:：])|(?:京|沪|粤|浙|苏)ICP[备证]|公网安备)re", ""},
    {"credits-zh", RuleKind::line,
     R"re(^[\s　]*[（(【\[]?\s*(?:责任编辑|責任編輯|责编|責編|编辑|編輯|校对|校對|来源|來源|文章来源|稿源|原标题|原標題|记者|本报记者)\s*[:：].{0,40}$)re", ""},
    {"site-notice-zh", RuleKind::line,
     R"re(最新章[节節](?:请|請|尽在|盡在|列表|目录|目錄)|(?:请|請)(?:记住|記住|收藏)本(?:站|书|書|网)|手机(?:用户)?(?:请|阅读)(?:访问|浏览|到)|(?:无|無)(?:弹|彈)窗|(?:免费|免費)(?:阅读|閱讀)(?:网|網|小说|小說)|(?:章节|章節)(?:错误|錯誤|有误|有誤)|本(?:章|节)未完|本章完[)）】]?\s*$|求(?:推荐|推薦|月|鲜花)?票|点击(?:进入)?(?:下一页|下一章)|點擊下一[頁章]|加入书签|加入書籤|(?:上一章|返回目录|返回目錄|下一章)\s*[|｜←→ 　])re", ""},
    // Notes of the author and the translator.
    {"author-note-en", RuleKind::block,
     R"re((?i)^[\s\[(*]*(?:(?:author|translator|editor)(?:['\x{2019}]?s)?['\x{2019}]? +notes?|A/N|T/N|T/L note)\s*[:\x{ff1a}\x{2014}\x{2013}*\])-])re", ""},
    {"author-note-zh", RuleKind::block,
     R"re(^[\s　]*[（(【\[*]*\s*(?:作者(?:有话(?:要)?说|有話(?:要)?說|的话|的話|按|题外话|題外話|留言)|(?:译|譯|编|編)者(?:注|註|按)|题外话|題外話)\s*[:：】\])）])re", ""},
    // Headings of chapters.
    {"chapter-en", RuleKind::line,
     R"re((?i)^[\s*#=-]*(?:chapter|part|book|volume|section) +(?:\d{1,4}|[ivxlcdm]{1,8}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty)[\s*#=-]*(?:$|[.:\x{2014}\x{2013}-].{0,80}$)|^[\s*#=-]*CHAPTER +(?:\d{1,4}|[IVXLCDM]{1,8})\b.{0,80}$)re", ""},
    {"chapter-zh", RuleKind::line,
     R"re(^[\s　]*(?:正文\s*)?第\s*[0-9０-９零〇一二三四五六七八九十百千两兩]{1,9}\s*[章回节節卷集部篇幕](?:[\s　]*$|[\s　:：、.·—-].{0,40}$))re", ""},
    // Addresses, wherever they stand.
    {"url", RuleKind::text, R"re((?i)\b(?:https?://|ftp://|www\.)[^\s<>"'()\x{ff08}\x{ff09}\x{3010}\x{3011}\x{300c}\x{300d}\x{300e}\x{300f}\x{ff0c}\x{3002}\x{ff1b}\x{ff01}\x{ff1f}\x{3001}\x{3000}]+)re", ""},
    {"blank-lines", RuleKind::text, R"re(\n(?:[ \t\r\x{3000}]*\n){2,})re", "\n\n"},
};
// clang-format on

const size_t kDefaultRuleCount = sizeof kDefaultRules / sizeof kDefaultRules[0];

}  // namespace neardup
