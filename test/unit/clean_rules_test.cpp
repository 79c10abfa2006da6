// The built-in rules: for each, lines of pages, mails and books that it takes out, and lines of prose that it leaves.
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "core/intake/clean.h"
#include "text/patterns.h"

namespace neardup::clean_rules_test {
namespace {

// Enough text that what follows lies in the last third.
const char kBefore[] =
    "The storm came up out of the sea before noon, and nobody in the village had seen one like it.\n"
    "By evening the harbour was gone.\n\n";
const char kBehind[] = "Nobody spoke.\n";

struct Run {
  std::string body;
  std::vector<std::string> fired;
};

Run cleaned(const std::string& text) {
  static const std::vector<Rule> rules = default_rules();
  static const std::unique_ptr<Patterns> patterns = compile_patterns(rules);
  const Cleaned c = clean_text(rules, *patterns, text, nullptr);
  Run run{c.changed ? c.body : text, {}};
  for (const uint32_t i : c.fired) run.fired.push_back(rules[i].name);
  return run;
}

struct Lines {
  const char* rule;
  std::vector<const char*> taken;
  std::vector<const char*> left;
};

void check(const Lines& lines) {
  if (!has_patterns()) GTEST_SKIP() << "built without RE2";
  for (const char* line : lines.taken) {
    const Run run = cleaned(std::string(kBefore) + line + "\n" + kBehind);
    EXPECT_EQ(run.fired, std::vector<std::string>{lines.rule}) << line;
    EXPECT_EQ(run.body.find(line), std::string::npos) << line;
    EXPECT_EQ(run.body.substr(0, sizeof kBefore - 2), std::string(kBefore).substr(0, sizeof kBefore - 2)) << line;
  }
  for (const char* line : lines.left) {
    const std::string text = std::string(kBefore) + line + "\n" + kBehind;
    const Run run = cleaned(text);
    EXPECT_EQ(run.body, text) << line;
    EXPECT_TRUE(run.fired.empty()) << line << ": " << (run.fired.empty() ? "" : run.fired[0]);
  }
}

TEST(CleanRules, CommentsEn) {
  check({"comments-en",
         {"Comments",
          "COMMENTS",
          "12 Comments",
          "1 comment",
          "Comments (3)",
          "Comments 14",
          "2 comments:",
          "READER COMMENTS",
          "Reader comments:",
          "Leave a Reply",
          "Leave a Reply Cancel reply",
          "Leave a comment below",
          "Post a comment",
          "Add a comment",
          "Join the conversation",
          "3 thoughts on \u201cThe Storm\u201d",
          "One thought on \u201cThe Storm\u201d",
          "2 Responses to \"The Storm\"",
          "## Comments",
          "No comments yet"},
         {"What do you think?", "No comment.", "Comments were few and kind.",
          "Comments:", "Comment 3: The figure lacks a scale.", "12 thoughts on writing well",
          "3 responses to the crisis were tried.", "Leave a comment on the back of the card.",
          "Leave a reply at the desk before noon.", "Join the conversation whenever it pleases you.",
          "Two replies to his letter came by the same post.", "Top comments of the jury went to the young painter."}});
}

TEST(CleanRules, CommentsZh) {
  check({"comments-zh",
         {"网友评论", "評論", "评论区", "相关评论：", "评论（12条）", "最新评论 35", "留言", "书友评论(3)"},
         {"评论家认为这本书很好。", "留言：请转告王先生，明天的会议改到下午。", "评论这件事的人很多。",
          "他在留言簿上写了一行字。", "网友评论说，这部电影值得一看。", "跟帖的人越来越多，他不再看了。"}});
}

TEST(CleanRules, AdvertisementEn) {
  check({"advertisement-en",
         {"Advertisement", "ADVERTISEMENT", "[Advertisement]", "- Advertisement -", "Sponsored", "Sponsored Content",
          "Sponsored links:", "Story continues below advertisement", "Article continues below this ad",
          "Continue reading below", "Scroll to continue", "Buy now!", "Shop now", "Order now and save 20%",
          "You may also like", "Recommended for you", "From our partners", "AdChoices"},
         {"The advertisement ran for years.", "Advertisements were few in those days.",
          "Sponsored by his uncle, he went to sea.", "Promoted.", "Promoted to captain in 1812, he sailed again.",
          "Buy now and repent at leisure, my father used to say.", "Order now reigned in the house.",
          "Shop now closed for good.", "The story continues below the stairs.",
          "You may also like to know how it ended.", "Recommended for you by your doctor, it does no harm."}});
}

TEST(CleanRules, AdvertisementZh) {
  check({"advertisement-zh",
         {"广告", "【广告】", "（廣告）", "相关推荐：", "猜你喜欢", "热门推荐", "[推广]"},
         {"广告业今年增长很快。", "推广普通话是一项长期的工作。", "为您推荐的医生今天不在。",
          "猜你喜欢这本书，所以买了。", "广告：一种古老的行当，自有集市以来就有。"}});
}

TEST(CleanRules, PromotionZh) {
  check({"promotion-zh",
         {"扫描下方二维码，关注我们", "扫一扫二维码关注公众号", "长按识别二维码", "请扫码下方二维码进群",
          "关注公众号：每日读书", "欢迎关注我们的微信公众号", "关注公众号“春风”，获取更多资讯", "微信公众号：chunfeng",
          "欢迎加入读者群：123456789", "书友QQ群：87654321", "请加微信：abc12345", "有兴趣的加QQ 12345678",
          "点击下载APP", "点击下载客户端，看全文"},
         {"他扫描二维码付了钱。", "扫描二维码支付是现在最常见的方式。", "他关注的公众号昨天停更了。",
          "关注公众号的人越来越多。", "搜索公众号时要小心骗子。", "我在微信公众号上读到这件事。",
          "他在读者群：“春天”里很少说话。", "他让我加微信abc12345，我没有理他。", "点击下载APP后，手机就死机了。",
          "二维码是日本人发明的。"}});
}

TEST(CleanRules, CookiesEn) {
  check({"cookies-en",
         {"This site uses cookies to improve.", "This website uses cookies.", "We use cookies.",
          "We use cookies to improve your experience on our website.",
          "We use cookies and similar technologies to recognise you.",
          "We use cookies to personalise content and ads, and to analyse our traffic.",
          "We and our partners use cookies on this site.",
          "By continuing to use this site, you agree to our use of cookies.",
          "By using our website you consent to cookies.", "Accept all cookies", "Cookie policy", "Cookie Settings",
          "Cookies help us deliver our services."},
         {"We use cookies in this recipe.", "We use cookies to decorate the Christmas tree.",
          "We use cookies to welcome visitors.", "We use cookies that are similar to my grandmother's.",
          "Every winter we use cookies instead of bread.", "By continuing to use the site, the monks ruined its soil.",
          "Cookies help us celebrate.", "The cookie policy of my grandmother was simple.",
          "Accept all cookies that children offer you.",
          "Browsers ask before this website uses cookies, and most people say yes."}});
}

TEST(CleanRules, SubscribeEn) {
  check({"subscribe-en",
         {"Subscribe",
          "Sign up",
          "Log in",
          "Sign In",
          "Register",
          "Subscribe now",
          "Register for free",
          "Subscribe to our newsletter!",
          "Sign up for our free daily newsletter",
          "Sign up for breaking news alerts",
          "Subscribe to our YouTube channel",
          "Log in to comment",
          "Please log in or register to post comments.",
          "Sign in to continue reading",
          "Subscribe to read the full story",
          "Subscribe today for full access",
          "Log in with Facebook",
          "Log in / Register",
          "Sign up to get full access",
          "Subscribe to updates",
          "Subscribe to The Morning Post",
          "Sign up for our newsletter for exclusive offers and news."},
         {"Register now to vote.", "Register to vote by the first of May.",
          "Sign up for the army, his father said, or leave my house.", "Log in to the server and restart the service.",
          "Sign in with your real name at the desk.", "Subscribe to no party and no creed.",
          "Register for classes by Friday.", "I subscribe to the view that it is so.",
          "Log in to Windows with the new password.", "Subscribe to nothing that you have not read.",
          "Sign up for classes, and bring a pen."}});
}

TEST(CleanRules, PageFurnitureEn) {
  check({"page-furniture-en",
         {"Share",
          "Share this",
          "Share this article",
          "Share this:",
          "Share this story on Facebook",
          "Share on Twitter",
          "Share via email",
          "Follow us",
          "Follow us on Twitter @example",
          "Follow us on social media",
          "Click here",
          "Click here to read the full report",
          "Click here for more",
          "Read more",
          "Read more...",
          "Read More \u00bb",
          "Read more: How the harbour was lost",
          "See all comments",
          "Load more",
          "Related Articles",
          "More stories",
          "Top stories",
          "Also read: The flood of 1953",
          "Back to top",
          "Skip to main content",
          "Print this page",
          "Home",
          "Menu",
          "Loading...",
          "Terms of Use | Privacy Policy | Contact Us",
          "About us",
          "Facebook | Twitter | LinkedIn",
          "Facebook",
          "Email / Print",
          "Share this!",
          "Share on Tumblr",
          "Follow us: Facebook Twitter",
          "Show more comments (20)"},
         {"Share this bread with the poor.",
          "Share via email the results of the vote",
          "Share on Facebook your best memory of her",
          "Share with your neighbour what you have.",
          "He would share his bread.",
          "Follow us, he cried, and we shall win!",
          "Follow us on foot through the forest.",
          "Click here once, then there, and the door opens.",
          "Read more stories to your children.",
          "See more articles in the appendix.",
          "Home.",
          "Home is where it is.",
          "Next.",
          "Close!",
          "Latest news from the front was bad.",
          "Telegram",
          "Print this page of history in your memory.",
          "Search the house.",
          "More news reached us at dawn.",
          "About us the sea was calm.",
          "Facebook was founded in a dormitory."}});
}

TEST(CleanRules, CopyrightEn) {
  check({"copyright-en",
         {"Copyright 2020 Some Press. All rights reserved.", "Copyright \u00a9 2020",
          "Copyright (c) 2019-2021 The Authors", "\u00a9 2020 Some Press", "\u00a9 Reuters",
          "(c) 2020 Acme Corp. All rights reserved.", "(c) 1998-2004, John Smith",
          "COPYRIGHT, 1911, BY HARPER & BROTHERS", "Copyright by Harper & Brothers, 1911.", "Copyright: Some Press",
          "Copyright", "Copyright The Channel Company, all rights reserved", "\u00a9 example.com, 2008",
          "All rights reserved", "All Rights Reserved. No part may be copied.",
          "This material may not be published, broadcast, rewritten or redistributed."},
         {"Copyright law was changed by the parliament.", "Copyright law was changed in 1976.",
          "Copyright by itself protects no idea.", "Copyright is a term of seventy years.", "\u00a9 is the sign of it.",
          "(c) 1990 was the worst year of the drought.", "(c) the seller shall deliver by 2020.",
          "All rights reserved by the constitution to the states are theirs.",
          "Copyrighted works fall into the public domain in the end."}});
}

TEST(CleanRules, CopyrightZh) {
  check({"copyright-zh",
         {"版权所有", "版权所有，未经许可不得转载", "版權所有 © 2020", "免责声明：本站内容来自网络。",
          "未经授权，不得转载", "未经本站书面许可，任何单位和个人不得复制", "转载请注明出处", "转载请联系作者",
          "本文转载自新华网", "本文系作者原创", "声明：本站文章版权归作者所有。", "京ICP备12345678号",
          "沪公网安备 31010602000001号", "【版权声明】"},
         {"版权所有者应当在一年内提出请求。", "版权声明是出版合同的一部分。", "未经许可不得入内，他看见门上这样写着。",
          "未经甲方书面许可，乙方不得转让本合同。", "未经他同意，她就走了。", "声明：我与此事无关。",
          "声明：我公司的版权受到侵害。", "免责声明在法律上的效力有限。", "京ICP备案制度始于2005年。",
          "转载请注明出处是基本的礼貌。"}});
}

TEST(CleanRules, CreditsZh) {
  check({"credits-zh",
         {"（责任编辑：张三）", "责编：李四", "来源：新华社", "来源：人民网", "文章来源：北京日报", "记者：王小明",
          "本报记者 王小明", "来源：中央电视台", "编辑：张三 校对：李四", "原标题：暴雨袭击海港", "來源：中央社"},
         {"记者：你好，请问这本书写了多久？", "记者：为什么？", "来源：这种植物原产于南美洲。",
          "来源：豆科植物甘草的干燥根及根茎", "编辑：我们为什么还需要诗歌？", "记者看见他站在门口。",
          "编辑这本词典用了十年。", "编辑手册", "记者看见他", "来源：北京火车站", "来源：十八号",
          "校对是一件细致的工作。"}});
}

TEST(CleanRules, SiteNoticeZh) {
  check({"site-notice-zh",
         {"最新章节请到本站阅读", "天才一秒记住本站地址：example.com", "请记住本站域名", "手机用户请访问 m.example.com",
          "手机用户请浏览m.example.com阅读", "无弹窗小说网", "全文免费阅读小说网", "如果发现章节错误，请点击举报",
          "（本章未完，请翻页）", "（本章完）", "求推荐票，求收藏！", "新书上传，求月票", "点击下一页继续阅读",
          "加入书签", "上一章 | 目录 | 下一章", "上一章　返回目录　下一章"},
         {"请记住本书的三个要点。", "手机请到一楼领取。", "手机用户请到营业厅办理。", "这款浏览器没有广告，也无弹窗。",
          "网站提供免费阅读小说的服务。", "本书章节错误百出。", "本节未完成的工作见附录。", "候选人四处求票。",
          "海关要求票据齐全。", "乘客要求月票打折。", "点击下一页按钮即可翻页。", "用户可以加入书签。",
          "上一章讲了语法，下一章讲修辞。"}});
}

TEST(CleanRules, AuthorNoteEn) {
  check({"author-note-en",
         {"Author's note: thanks for reading", "A/N: sorry for the delay", "[T/N: a pun]",
          "Translator\u2019s Note: the word means rain", "(Editor's note: an earlier version said four.)",
          "Author's note - sorry", "**Author's Notes**", "T/L note: rain"},
         {"Author's note-taking habits were famous.", "Translators note that the word means rain.",
          "The author's note: a page of thanks.", "Editor's notes\u2014there are forty\u2014fill the margin.",
          "Author, note this well."}});
}

TEST(CleanRules, AuthorNoteZh) {
  check({"author-note-zh",
         {"作者有话要说：谢谢", "译者注：此处是双关", "（编者按）", "题外话：今天下雨"},
         {"作者有话说不出。", "译者注意到这个词的意思。", "编者按时交了稿。", "题外话他说得太多。"}});
}

TEST(CleanRules, ChapterEn) {
  check(
      {"chapter-en",
       {"Chapter 1",
        "CHAPTER XII",
        "CHAPTER XII. The Storm",
        "Chapter 12: The Storm",
        "Chapter One",
        "Chapter iv",
        "Part two",
        "PART I.",
        "Book III",
        "Volume 2",
        "Chapter 3 The Storm at Sea",
        "CHAPTER IV THE STORM",
        "Section 4 - Tools",
        "Part II: The Sea",
        "## Chapter 7",
        "Chapter 1. Loomings.",
        "CHAPTER I\u2014THE STORM",
        "chapter 12",
        "CHAPTER 3. In which a bear goes hunting, and nearly catches one",
        "Chapter One. The Storm",
        "Chapter 9: He goes"},
       {"Chapter 11 bankruptcy was filed on Monday by the company.", "Chapter I liked best was the last",
        "Chapter 11. It based its hopes on its debts and on", "Chapter 11 of the federal law.", "Chapter 7 Bankruptcy.",
        "Chapter and verse.", "Part one of the plan was to run.", "Part mild, part bitter.", "chapter 5.", "Chapter 5.",
        "Section 3.2 describes the method.", "Section 5. This Act may be cited as the Tea Act.",
        "Part 2. Remove the four screws.", "Chapter 3.1 gives an overview.", "Part 1-3 were lost in the fire.",
        "Book one of the rooms for me.", "Section 8 housing is scarce.", "Part i was never found.",
        "Volume two was out of print, so he borrowed it."}});
}

TEST(CleanRules, ChapterZh) {
  check(
      {"chapter-zh",
       {"第一章", "第一百二十回　甄士隐详说太虚情", "第3章 你是谁？", "正文 第十二章：风雨", "第二卷", "第一章、总则"},
       {"第一章程规定如下，第二条另有说明。", "第二节、第三节由他负责。", "第一集 他出生在北京。", "第三部分讲语法。",
        "第一回，他输了。", "第五章写得最好。"}});
}

TEST(CleanRules, Url) {
  check(
      {"url",
       {"Look: https://example.org/a?b=1", "See http://example.org/page for more", "Then www.example.org",
        "详见https://example.org/页"},
       {"The protocol https is safer than http.", "He said www and nothing else.", "Write to me at the old address."}});
}

TEST(CleanRules, Invisible) {
  if (!has_patterns()) GTEST_SKIP() << "built without RE2";
  const struct {
    const char* text;
    const char* body;
  } cases[] = {
      {"ex\u00adam\u00adple", "example"},
      {"zero\u200bwidth", "zerowidth"},
      {"word\u2060joiner", "wordjoiner"},
      {"\ufeffmark", "mark"},
      {"a\u200eb\u200fc\u202ad\u2069e", "abcde"},
      {"Auf\u200clage", "Auflage"},
      {"e\u0301\u200dx", "e\u0301x"},
      {"a\u00ad\u200c\u200bb\u200cc", "abc"},
      {"\u043f\u0440\u0438\u00ad\u0432\u0435\u0442", "\u043f\u0440\u0438\u0432\u0435\u0442"},
      {"\u6c49\u200b\u5b57", "\u6c49\u5b57"},
      {"\u200bAdver\u00adtisement\nText.", "Text."},
      // They are part of the spelling here.
      {"\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"},
      {"\u0915\u094d\u200d\u0937", "\u0915\u094d\u200d\u0937"},
      {"\U0001f469\u200d\U0001f4bb", "\U0001f469\u200d\U0001f4bb"},
      {"2\u200c\u0627", "2\u200c\u0627"},
      {"\u2764\ufe0f", "\u2764\ufe0f"},
      {"plain text", "plain text"},
  };
  for (const auto& c : cases) EXPECT_EQ(cleaned(c.text).body, c.body) << c.text;
  EXPECT_EQ(cleaned("ex\u00adample").fired, std::vector<std::string>{"invisible"});
}

// None without its lines above.
TEST(CleanRules, All) {
  const std::vector<std::string> tested = {
      "invisible",      "comments-en",    "comments-zh",       "advertisement-en", "advertisement-zh", "promotion-zh",
      "cookies-en",     "subscribe-en",   "page-furniture-en", "copyright-en",     "copyright-zh",     "credits-zh",
      "site-notice-zh", "author-note-en", "author-note-zh",    "chapter-en",       "chapter-zh",       "url",
      "blank-lines"};
  std::vector<std::string> names;
  for (const Rule& r : default_rules()) names.push_back(r.name);
  EXPECT_EQ(names, tested);
}

}  // namespace
}  // namespace neardup::clean_rules_test
