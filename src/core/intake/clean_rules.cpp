// The built-in rules of neardup_clean(): what pages in English and Chinese carry besides their text. Each demands a
// whole short line, or its beginning, in the very shape of a notice: a phrase that articles use, too, is not enough
// (test/unit/clean_rules_test.cpp has lines of both kinds). No pattern begins with a `.` that has a bound, which would
// make the search slow. Rules for English are in ASCII, so that databases in any encoding can show them.
#include "core/intake/clean.h"

// clang-format off
#define NETWORK "(?:facebook|twitter|linkedin|whatsapp|pinterest|reddit|instagram|youtube|tiktok)"
#define LINKS "(?:facebook|twitter|linkedin|whatsapp|pinterest|reddit|instagram|youtube|tiktok|telegram|messenger|tumblr|google\\+?|vk|wechat|weibo|e-?mail|print)"
#define SIGN_UP "(?:subscribe|sign ?up|sign in|log ?in|register)"
#define LINK_LIST LINKS "(?:[\\s,/|]+(?:(?:and|or) )?" LINKS ")*"
#define TERMS "(?:terms of (?:use|service)|privacy policy|contact us|about us)"
#define YEAR "(?:1[5-9]|20)\\d\\d"
// Words of a name, each with a capital but for the small ones between.
#define CAPITAL "(?-i:[A-Z\\x{c0}-\\x{de}])"
#define LETTERS "[\\w'\\x{2019}\\x{c0}-\\x{24f}-]*"
#define NAMES "(?:(?:(?:" CAPITAL "|\\d)[\\w&.,'\\x{2019}\\x{c0}-\\x{24f}-]*|(?-i:and|of|the|for|de|&))(?: +|$))+"
// 1 to 39 in small letters: no word is one of these.
#define SMALL_ROMAN "(?-i:x{0,3}(?:ix|iv|vi{0,3}|i{1,3})|x{1,3})"
#define CAPITAL_ROMAN "(?-i:[IVXLCDM]{1,8})"
#define NUMBER_WORD "(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|" \
                    "seventeen|eighteen|nineteen|twenty)"
#define CHAPTER_NUMBER "(?:\\d{1,4}|" CAPITAL_ROMAN "|" SMALL_ROMAN "|" NUMBER_WORD ")"
#define TITLE CAPITAL LETTERS "(?: +(?:" CAPITAL LETTERS "|(?-i:a|an|the|of|and|in|on|to|for|at|by|with|from|or)),?)*"
// The marks between the number of a chapter and its title.
#define TITLE_MARK "(?:[.:] +| *[\\x{2014}\\x{2013}] *| +-+ +)"
// The beginning of an appeal in Chinese, and what may stand before it.
#define APPEAL "^[\\s　*※★☆▲▼◆●>【\\[（(]*(?:(?:欢迎|歡迎|请|請|敬请|敬請|长按|長按|打开微信|打開微信|现在就|立即|马上|赶快|快来|快|可以?)[，,]?)*"
#define QR_CODE "(?:二维码|二維碼|QR ?[Cc]ode)"
#define ACCOUNT "(?:公众号|公眾號|公众平台|微信号|微信號|订阅号|訂閱號)"
#define HAN_NAME "[\\p{Han}·]{2,4}"
#define BOOK_LINK "(?:加入书签|加入書籤|加入书架|推荐本书|投推荐票|返回(?:目录|书页|首页)|返回目錄|上一[章页頁]|下一[章页頁])"
// Nothing is seen of these: soft hyphen, joiners of lines, marks of direction, operators of formulas.
#define UNSEEN "\\x{ad}\\x{34f}\\x{61c}\\x{200b}\\x{200e}\\x{200f}\\x{202a}-\\x{202e}\\x{2060}-\\x{2064}\\x{2066}-\\x{206f}\\x{feff}"
// ZERO WIDTH NON-JOINER and JOINER
#define JOINERS "\\x{200c}\\x{200d}"

namespace neardup {

const BuiltInRule kDefaultRules[] = {
    // First, for they stand inside words that the others look for. A joiner goes behind letters that never join by it;
    // in Arabic and Indic scripts, and in emoji, it is part of the spelling.
    {"invisible", RuleKind::text,
     "([\\p{Latin}\\p{Greek}\\p{Cyrillic}\\x{300}-\\x{36f}])[" UNSEEN JOINERS "]+|[" UNSEEN "]+", "\\1"},
    // Reader comments, to the end.
    {"comments-en", RuleKind::tail,
     "(?i)^[\\s*#=-]*(?:comments|no comments(?: yet)?"
     "|(?:(?:\\d+ +)(?:(?:reader|user|recent) +)?comments?|(?:reader|user|recent|latest|all|top) +comments(?: *\\(\\d+\\)| +\\d+)?"
     "|comments? *\\(\\d+\\)|comments +\\d+) *:?"
     "|(?:leave (?:a|your) (?:reply|comment)(?: (?:below|here|now|cancel reply|to .{1,60} cancel reply))?"
     "|(?:post|add|write) a comment|join the (?:conversation|discussion)) *[:.!]?"
     "|(?:\\d+|one) (?:responses?|thoughts?|repl(?:y|ies)|comments?) (?:to|on) "
     "[\"'\\x{201c}\\x{2018}\\x{ab}].{0,160}[\"'\\x{201d}\\x{2019}\\x{bb}] *:?)\\s*$", ""},
    {"comments-zh", RuleKind::tail,
     "^[\\s　*#=-]*(?:评论|評論|留言|跟帖"
     "|(?:(?:网友|網友|读者|讀者|用户|用戶|书友|書友|最新|热门|熱門|精彩|全部|相关|相關|发表|發表|我要|查看)(?:评论|評論|留言|跟帖)区?|(?:评论|留言)区|評論區"
     "|(?:评论|評論|留言|跟帖)\\s*[（(]?\\s*(?:共\\s*)?\\d+\\s*[条條则則篇]?\\s*[)）]?)"
     "\\s*(?:[（(]?\\s*(?:共\\s*)?\\d+\\s*[条條则則篇]?\\s*[)）]?)?\\s*[:：]?)\\s*$", ""},
    // Advertisements.
    {"advertisement-en", RuleKind::line,
     "(?i)^[\\s*\\[(-]*(?:advertisements?|advertorial|sponsored(?: content| links?| posts?| stor(?:y|ies))?"
     "|promoted(?: content| stories| posts?)?|ad ?choices"
     "|(?:story|article|text|content) continues below(?: (?:this )?ad(?:vertisement)?)?|continue reading below"
     "|scroll (?:down )?to continue(?: (?:reading|with content))?"
     "|(?:buy|order|shop) now(?: and save(?: (?:big|today|(?:up to )?[$\\x{20ac}\\x{a3}]?\\d.{0,20}))?)?[!.]*"
     "|you (?:may|might) also like|recommended (?:for you|stories|videos?)|from our (?:partners|sponsors))[\\s*\\])-]*:?\\s*$", ""},
    {"advertisement-zh", RuleKind::line,
     "^[\\s　]*[【\\[（(]?\\s*(?:广告|廣告|推广|推廣|赞助内容|贊助內容|赞助商链接|猜你喜欢|猜你喜歡|相关推荐|相關推薦|为您推荐|為您推薦|热门推荐|熱門推薦)"
     "\\s*[】\\]）)]?\\s*[:：]?\\s*$", ""},
    {"promotion-zh", RuleKind::line,
     APPEAL "(?:"
     "(?:识别|識別|扫(?:描|一扫|码)?|掃(?:描|一掃)?)(?:(?:下方|上方|下面|右侧|文末|以下|下图)(?:的)?(?:微信)?" QR_CODE
     "|(?:微信)?" QR_CODE "(?:[，,、！!\\s]*(?:即可|可以?|并)?(?:关注|關注|加入|下载|下載|了解|获取|獲取|领取|領取|添加|查看|进群|进入|阅读|閱讀|订阅|訂閱|参与|免费|免費|更多)|[。.！!)）】\\]]*\\s*$))"
     "|(?:关注|關注|搜索|搜尋|订阅|訂閱)(?:本站|我们|我們|官方|本)?(?:的)?(?:官方)?(?:微信)?" ACCOUNT "(?:$|[\\s:：“「『\"【（(，,！!。A-Za-z0-9])"
     "|(?:(?:我们|我們|本站|官方|作者)的?)?微信公[众眾][号號]\\s*[:：]"
     "|(?:加入)?(?:我们|我們|本书|本站|作者)?的?(?:书友|書友|读者|讀者|交流|粉丝)(?:QQ|qq|微信)?群(?:号|號)?\\s*[:：]\\s*[0-9A-Za-z]"
     "|(?:联系|聯繫|咨询|购买|合作|有兴趣|感兴趣|需要)?(?:我|我们|的|请|可|者)*[，,]?加(?:微信|QQ|qq)(?:号|群)?\\s*[:：]?\\s*[0-9A-Za-z_-]{5}"
     "|(?:点击|點擊)(?:此处|这里|链接|下方|下面)?(?:下载|下載)(?:安装|本站|我们的|官方|手机)?(?:客户端|APP|App|app)(?:$|[\\s，,！!。】)）])"
     ").{0,60}$", ""},
    // Notices of the site.
    {"cookies-en", RuleKind::line,
     "(?i)^[\\s*>-]*(?:"
     "(?:(?:this|our) (?:web ?)?sites?|(?:the )?[\\w-]+\\.(?:com|org|net|co\\.uk)) uses? (?:\\w+ )?cookies\\b.*"
     "|we use cookies\\.?\\s*$|we(?: and (?:our|selected) (?:\\w+ )?(?:\\w+ )?partners)? use cookies\\b.*"
     "\\b(?:web ?site|site|(?:your|best|user|better) experience|browsing|browser|traffic|similar tech\\w+|advertis\\w+|ads|personali[sz]\\w+|cookie policy|privacy|analy[sz]e|consent)\\b"
     "|cookies help us (?:to )?(?:deliver|provide|improve|offer)\\b"
     "|by (?:(?:continuing|choosing) to (?:use|browse)|using|browsing) (?:this|our|the) (?:web ?)?(?:site|page|service)s?\\b.*\\b(?:you (?:agree|accept|consent|are (?:agreeing|accepting|consenting))|cookies)\\b"
     "|(?:(?:accept|reject|manage|allow) (?:all )?cookies|cookie (?:policy|settings|preferences|notice))\\s*$).{0,300}$", ""},
    {"subscribe-en", RuleKind::line,
     "(?i)^[\\s*>-]*(?:please )?(?:" SIGN_UP "(?: ?(?:/|\\||or|and) ?" SIGN_UP ")?(?: (?:now|today|here|free|for free))?(?:"
     " (?:to|for) (?:(?:our|the|my|this|your|a|free|daily|weekly|monthly|latest|exclusive|breaking|morning|evening|news|e-?mail|youtube|push|rss|[\\w-]+ly)[ ]){0,4}"
     "(?:newsletters?|mailing list|e-?mails?(?: (?:alerts?|updates?))?|updates?|alerts?|feed|channel|podcast|notifications?|blog)(?: (?:now|today|here|below|(?:by|via) e-?mail|(?:for )?free))?"
     "| to (?:(?:leave|post|write|add) (?:a |your )?(?:comments?|reply|replies|reviews?)|comment|reply|continue(?: reading)?"
     "|read (?:more|on|(?:the )?(?:full|rest|whole)\\b.{0,40}|this (?:article|story))|view (?:more|comments)|unlock\\b.{0,40}|get (?:full|unlimited) access\\b.{0,40}"
     "|access (?:all|premium|exclusive|your account)\\b.{0,40}|join the (?:conversation|discussion)|(?:rate|save|follow) this\\b.{0,30})"
     "| for (?:full|unlimited|instant) access\\b.{0,40}"
     "| with (?:facebook|google|twitter|apple|linkedin|github|(?:your )?e-?mail|your account))?\\s*[.!:\\x{bb}>]*"
     "|(?:subscribe|sign ?up) (?:to|for) .{0,50}\\b(?:newsletters?\\b|via e-?mail|on youtube).{0,60}|subscribe to " NAMES ")\\s*$", ""},
    {"page-furniture-en", RuleKind::line,
     "(?i)^[\\s*>|-]*(?:share(?: this!?(?: (?:article|story|post|page|entry))?(?: (?:on|via|with):?(?: " LINK_LIST "| friends)?)?| (?:on|via) " LINK_LIST "| with friends)?"
     "|follow us(?: on:?(?: (?:our )?social media| ?@\\w+)?| ?@\\w+)?|click here|(?:read|see|view|load|show) (?:more|all)(?: (?:comments|stories|articles|news|posts|results|photos)(?: \\(\\d+\\))?)?"
     "|(?:follow us(?: on)?:? " NETWORK "|click here (?:to|for) (?:read|view|see|subscribe|sign up|download|print|more|register|comment|follow|learn|find out|enlarge|share)\\b"
     "|(?:read|see|view) (?:more|all)(?: (?:stories|articles|news))? ?[:>\\x{bb}]|also read ?:).{0,150}"
     "|(?:related|more|popular|latest|top) (?:articles?|posts?|stories|news|links|topics|coverage)"
     "|back to top|skip to (?:main )?(?:content|navigation)|print this (?:page|article)"
     "|home|menu|search|close|print|e-?mail|tweet|next|previous|loading"
     "|" TERMS "(?:[\\s|\\x{b7}\\x{2022},-]+(?:" TERMS "|sitemap|careers))*"
     "|" NETWORK "|" LINKS "(?:[\\s|\\x{b7}\\x{2022},/-]+" LINKS ")+)[\\s:\\x{bb}\\x{203a}>|\\x{2026}]*(?:\\.{2,3})?\\s*$", ""},
    {"copyright-en", RuleKind::line,
     "(?i)^\\s*(?:copyright(?: policy| notice)?|copyright(?:ed)?,? *(?:by )?[^.!?]{1,80}(?:, " YEAR "\\.?|[,.] *all rights reserved.{0,40})|copyright (?:reuters|bbc|afp|(?:the )?associated press|getty images)\\b.{0,30}"
     "|\\(c\\) *" YEAR "(?: ?[\\x{2013}-] ?(?:\\d{4}|present))?(?:,? (?:by )?" NAMES ")?(?:all rights reserved.{0,40})?"
     "|.{0,3}all rights (?:are )?reserved(?: worldwide)?"
     "|(?:copyright(?:ed)?,? *(?:\\x{a9}|\\x{24d2}|@|\\(c\\)|:|,? ?" YEAR "\\b)|\\x{a9} *(?:" YEAR "|copyright\\b|" CAPITAL "|by |[\\w-]+\\.[a-z]{2,})|.{0,3}all rights (?:are )?reserved(?: worldwide)? *[.!|\\x{a9}-]"
     "|this material may not be published, broadcast, rewritten).{0,200})\\s*$", ""},
    {"copyright-zh", RuleKind::line,
     "^[\\s　*※]*[【（(]?(?:"
     "(?:版权所有|版權所有)(?:[\\s　:：©，,。！!】）)\\dA-Za-z]|不得|未经|未經|违者|侵权|翻印|$)"
     "|(?:版权声明|版權聲明|免责声明|免責聲明)\\s*(?:[:：】\\])）]|$)"
     "|(?:未经|未經)[\\p{Han}、]*(?:授权|授權|许可|許可|同意|允许|允許)[，,]?(?:任何(?:单位|个人|媒体|网站|人)[\\p{Han}、]*)?(?:一律)?(?:不得|请勿|請勿|禁止|严禁|嚴禁|谢绝|謝絕)(?:擅自|以任何(?:形式|方式))?(?:进行)?(?:转载|轉載|复制|複製|摘编|翻印|传播|抄袭|镜像)"
     "|(?:转载|轉載)(?:请|請)(?:注明|註明|联系|聯繫)(?:出处|出處|来源|來源|作者|本站|原文|链接)?(?:[\\s　，,、：:。！!）)】（(和及与并\\dA-Za-z]|$)|本文(?:转载|轉載)自|本文系[\\p{Han}]*(?:转载|原创)"
     "|(?:声明|聲明)[:：].*(?:转载|轉載|版权(?:归|所有)|版權(?:歸|所有)|本站|本网|联系[\\p{Han}]*删除)).{0,200}$"
     "|(?:京|沪|粤|浙|苏)ICP(?:[备证] ?\\d|备案号)|公网安备 ?(?:\\d|案号)", ""},
    {"credits-zh", RuleKind::line,
     "^[\\s　]*[（(【\\[]?\\s*(?:(?:责任编辑|責任編輯|责编|責編)\\s*[:：][^。？！]{0,40}"
     "|(?:编辑|編輯|校对|校對|(?:本报|本報|实习|见习)?(?:记者|記者))(?:\\s*[:：]\\s*|[\\s　]+)" HAN_NAME "(?:[\\s　、]+(?:(?:编辑|編輯|校对|校對|记者|記者|摄影|攝影|通讯员)\\s*[:：]?\\s*)?" HAN_NAME "){0,3}\\s*(?:摄|文|报道|報道)?"
     "|(?:来源|來源|文章来源|文章來源|稿源)\\s*[:：]\\s*[^。，；？！]{0,24}(?:[社网網報报刊]|电视台|电台|杂志|本站|公众号|新闻|新聞|微博|客户端|频道|网络|互联网|传媒|在线|头条|财经|综合|com|cn|net)"
     "|(?:原标题|原標題)\\s*[:：].{0,60})\\s*[）)】\\]]?\\s*$", ""},
    {"site-notice-zh", RuleKind::line,
     "(?:最新章[节節](?:(?:请|請)(?:到|访问|搜索|登录|百度|关注|上)|尽在|盡在|列表\\s*$|目录\\s*$|目錄\\s*$)|(?:请|請)(?:记住|記住|收藏)本站|记住本(?:站|书首发)(?:域名|网址|地址)"
     "|手机(?:用户请|阅读请?)(?:访问|浏览|到)\\s*[:：]?\\s*(?:[A-Za-z0-9]|本站|手机版)|(?:无弹窗|無彈窗)(?:小说|小說|全文|阅读|閱讀|广告小说)|(?:全文|免费|免費|最新)(?:阅读|閱讀|章节)?(?:无弹窗|無彈窗)"
     "|(?:章节|章節)(?:错误|錯誤|有误|有誤)[，,](?:请|請|点|點|欢迎)|(?:举报|反馈)(?:本)?章节错误|点击(?:此处)?(?:举报|报错)"
     "|本(?:章|节)未完(?:待续|[，,。！!)）】\\s]|$))"
     "|^[\\s　（(【\\[]*(?:本章完|(?:(?:全文|小说|小說)?(?:免费|免費)(?:阅读|閱讀)(?:网|網|小说网|小說網|小说|小說)[^。的]{0,20})"
     "|(?:请|請)?(?:点击|點擊)(?:进入|進入)?(?:下一[页頁章])(?:继续阅读|繼續閱讀|阅读)?[，,！!。>》\\s]*"
     "|" BOOK_LINK "(?:[\\s　|｜←→\\[\\]【】·/]+(?:" BOOK_LINK "|目录|目錄|章节目录))*)[\\s　）)】\\]→>]*$"
     "|^[\\s　（(【*]*(?:(?:ps|PS|Ps)\\s*[:：])?(?:[\\p{Han}]{0,10}[，,、！!\\s])?(?:跪|拜|继续|各种|再|厚颜)?求(?:推荐票|推薦票|月票|鲜花|收藏|订阅|打赏|票票|票)(?:[，,、！!。~～)）】\\s求].{0,40})?$", ""},
    // Notes of the author and the translator.
    {"author-note-en", RuleKind::block,
     "(?i)^[\\s\\[(*]*(?:(?:author|translator|editor)(?:['\\x{2019}]?s)?['\\x{2019}]? +notes?|A/N|T/N|T/L note)(?:\\s*[:\\x{ff1a}*\\])]| [\\x{2014}\\x{2013}-]+ | ?[\\x{2014}\\x{2013}-]+$)", ""},
    {"author-note-zh", RuleKind::block,
     "^[\\s　]*[（(【\\[*]*\\s*(?:作者(?:有话(?:要)?说|有話(?:要)?說|的话|的話|按|题外话|題外話|留言)|(?:译|譯|编|編)者(?:注|註|按)|题外话|題外話)\\s*[:：】\\])）]", ""},
    // Headings of chapters.
    {"chapter-en", RuleKind::line,
     "(?i)^[\\s*#=-]*(?:(?-i:CHAPTER|PART|BOOK|VOLUME|SECTION) +" CHAPTER_NUMBER "[.:]?[\\s*#=-]*$"
     "|(?-i:[Cc]hapter|Part|Book|Volume|Section) +\\d{1,4}:?[\\s*#=-]*$"
     "|(?-i:Chapter|Part|Book|Volume|Section) +(?:" CAPITAL_ROMAN "|" SMALL_ROMAN "|" NUMBER_WORD ")[.:]?[\\s*#=-]*$"
     "|(?:(?-i:CHAPTER) +" CHAPTER_NUMBER TITLE_MARK "|(?-i:Chapter) +" CHAPTER_NUMBER "(?:: +| *[\\x{2014}\\x{2013}] *| +-+ +)).{0,80}$"
     "|(?-i:Part|PART|Book|BOOK|Volume|VOLUME|Section|SECTION) +" CHAPTER_NUMBER TITLE_MARK "[^.!?;,]{0,60}$"
     "|(?-i:CHAPTER) +(?:\\d{1,4}|" CAPITAL_ROMAN ") (?-i:[^a-z\\n]*)$"
     "|(?-i:Chapter) +(?:" CHAPTER_NUMBER "\\. +" TITLE "\\.?|(?:\\d{1,4}|" CAPITAL_ROMAN ") +" TITLE ")\\s*$)", ""},
    {"chapter-zh", RuleKind::line,
     "^[\\s　]*(?:正文\\s*)?第\\s*[0-9０-９零〇一二三四五六七八九十百千两兩]{1,9}\\s*[章回节節卷集部篇幕](?:[\\s　]*|[\\s　:：.·—-][^。]{0,40}|、[^第。][^。]{0,39})$", ""},
    // Addresses, wherever they stand.
    {"url", RuleKind::text, R"re((?i)\b(?:https?://|ftp://|www\.)[^\s<>"'()\x{ff08}\x{ff09}\x{3010}\x{3011}\x{300c}\x{300d}\x{300e}\x{300f}\x{ff0c}\x{3002}\x{ff1b}\x{ff01}\x{ff1f}\x{3001}\x{3000}]+)re", ""},
    {"blank-lines", RuleKind::text, R"re(\n(?:[ \t\r\x{3000}]*\n){2,})re", "\n\n"},
};
// clang-format on

const size_t kDefaultRuleCount = sizeof kDefaultRules / sizeof kDefaultRules[0];

}  // namespace neardup
