#!/usr/bin/env python3
"""Writes src/core/script_table.inc: the script of every code point, and how common Han characters and hangul are.

Source: the Unicode Character Database as Debian ships it (package unicode-data, version 15.0.0), and Python's codecs
        for the levels of national standards.
Run:    python3 tools/make_script_table.py [/usr/share/unicode] > src/core/script_table.inc
Only guesses depend on the result (src/core/text_bits.h), nothing that is stored.
"""
import math
import os
import sys

LIMIT = 0x110000
NONE, COMMON, INHERITED = range(3)
BLOCKS = ((0x4E00, 0xA000), (0xAC00, 0xD7C0))  # Han, hangul
NAMES = ("Han", "Hangul")
NAMED = ("Arabic", "Bengali", "Bopomofo", "Cyrillic", "Devanagari", "Greek", "Gujarati", "Gurmukhi", "Han", "Hangul", "Hebrew",
         "Hiragana", "Kannada", "Katakana", "Latin", "Malayalam", "Oriya", "Sinhala", "Tamil", "Telugu", "Thai")
TENTHS = 10  # bits are written as tenths

# The most frequent characters of headlines, messages of programs, novels and poems in Chinese and Japanese, and of
# messages in Korean.
FREQUENT_HAN = (
    "一七万三上下不与专且世业东両两並个中串临丹为主举久义之乐乗九也习书买亂了予争事二于云互五井亚些亞亡交亦产享京亭亮亲"
    "人亿仅今仍从仓仕他付仙代令以件价任份企伊休优会伝传伤伺似但位低住体何余作你佳併使來例侍供依侯便俄俗保信修俳俺個倒候"
    "値债值假偏做停側傍備傳傷僅働像僕僧儀優儲儿允元兄充先光克兒入內全兩八公六兮兰共关兴兵其具内再写军农冠冲决冷准减凝処"
    "出击函分切刑划列刘则创初删判別利刪别到制券刻則削前剧割劇劍力办功加务动助劫効势動務勝勞勢包化北匯匹区医區十千升半华"
    "协協单卖南単博卡印危即卷压原去参參又及友双反发取受变叢口古句只叫可台史右号司各合吉同名后向君吟否含启吳吹吾呂告员周"
    "味呼命和品員售唱商問啟喜單嘗器四回因团団园困囲図围国图國圍園圖土圧在地场址均坐块坤坦垂型城域執基堂堪報場塊塵境墅增"
    "壓壞士声売处备変复夏夕外多夜夢大天太夫央失头奇奖套奥女奴好如妇妙妻始姿威娘婚婦媒子字存孟季孤学孩學它安完官定宝实実"
    "客宣室宮家容宿寂寄密富寒寝實寫寬寸对寺导対封将將尋對小少尔尚就尼尾局居屋展属屬山岁岩岸峰島崔巖川州工左巨己已巴市布"
    "帅师希帝带師帰帶常幅幕平年并幸幽幾广広庆序库应底店府度座庫庭康廟廢建廻开式引张弱張強弹强归当录形影役彼往径待後徑徒"
    "従得從御復微德心必志忘応快念忽态思急性怨怪总恐恨恩息悠您悪悲情惊惟惠想愁意愛感愿態憂憑憶應懷戏成我或战戦户戸房所手"
    "才打执扱批找技把投折択抢报押拉拍拒招拟拡持指按振换据排掛探接控推描提換揭援損搖搜播擇操擴支收改攻放政故效救敗教散数"
    "整敷數文料断斯新斷方於旅族无既日早时明易昔星映春昨是显時晚晩普景晴智暗暫暮暴曉曝曲更書曾替最會月有服望朝期木未末本"
    "术机杀权李村束条来杯東松板析林果枝查柳査标校核根格桂桃案档條梦检棄検楊楚業極楼楽構様樂樓標模樣権横樹橋機橫檔檢欄權"
    "次欧欲款歌止正此步武歩歲歴歸死殊残殘段殺母毎每比毛氏民气気氣水求汇汉江池決汽沒沙没沪河油治況泉法波泣注泰洋洛洞洲活"
    "派流测济浪浮海消涉涨涼深添清渡温港游湖湘湾満源準溪溶满滿演漢火灯点為热無然煙照熱燈爆爭爱爲父爾片版牌物特犯状狀狂独"
    "猫猶獨率玉王玩环现珠班現球理琴環瓦甚生產産用田由申电男町画界留略番異當疑病痛発登發白百的皆皇益监盘盛盟盡盤目直相省"
    "看真眺眼着知短石码研破确碟碧確碼示礼社祖神票福禪禮离秀私秋科秒秘秦称移稀程種稱究空突窓窗窮立站章童端竹笑符第筆等答"
    "策签算管節範簽籤米类精系約紅紙級素索紫細紳終組経結絕給統絲絵絶經続綠維網綴緒線編緩縁縮繼續红约级纪纳线组终经结给络"
    "绝统继绩续维缓编缩缺网罗置署羅美群義羽翃翠翻老考者而耳职联聖聚聞聯聲聽肉股育背胜胸能腰腹臨自至致臺與興舊舞舟船良色"
    "节花芳芸苏若苦英范茶草荒莫获華菲营萨萬落葉著蒙蒼蓋蓮蕭薄薛蘭虎處虛號虫融行術街衛衝衣表被袭装裏補裝製複西要覆見規視"
    "覚覧親観觀见观规视角解觸言訂計訊記設許訳註証評詞詢試詩話該詳誌認語誤說説読誰調談請論諸謂謝證識警譯議讀變计认让议讯"
    "记许论设访证评识诉试话询该语误说请读调谈谷豈象豪貴買資賢質贈财败货质购费资赔赛赤走起超越足跌路跳蹤身車軍軟較載輕輯"
    "輸轉车转轮软载输辭辺込达过迎运近返还这进连述迴迷追退送选途這通速造逢連進遇遊運過道達違遙遞遠適遭遲選遺還邊那郊郎部"
    "都鄉配酒醉里重野量金釣鈕銀錄錯録鍵鎖鏡鑰钥钱铁银链销锋错键長长門閉開閑間関關门闭问间队防阳阵阿附际陈降限院陣除险陰"
    "陵陸陽階隔際隨隱难雁集雑雖雙離難雨雪雲零電需震霜霞露靈青静靜非面韓韩音韻響頁頃項順須頎預頭題顔類顧顯页项须预领频题"
    "風风飛飞食飲養餘館首香馬驗驚马验骗體高魚鮑鳥鳳鳴鶴黃黄黑黒默點齊龍龙龜"
)
FREQUENT_HANGUL = (
    "가각간값같개거건검것게결경계고공과관구국권규그근기길까꾸끝나남내너널노는능니닙다단당대더데덱도돌동되된됨됩두뒤듈드"
    "든들디딩따때또라래랜램러런럼레렉려력렬령로록롤료루룹류르른를름리릴림링마막만말맞매메면명모목못무문미밋및바반받발방"
    "배백버번범법베변별병보복본볼부분불브블비사삭산상새색생서석선설성세션소속수순숫스슬습시식신실심십쓰쓸아안않알암압았"
    "야약어언업없었에여역연열영예오올옵와완외요용우운원위유으은을음의이인일읽임입있자작잘장재잭저적전절접정제젝져조존종"
    "주준줄중증지진집째쪽참찾처청체초최추축출치카칼커컨케코쿼크클키타태택터턴테텍템토통트티파패퍼페포폴표프플필하한할함"
    "합항해했행허헤현형호화확환활후"
)


def ranges(path):
    """Yields (first, last, value) of a UCD property file."""
    with open(path, encoding="utf-8") as f:
        for line in f:
            line = line.split("#")[0].strip()
            if line:
                span, value = (x.strip() for x in line.split(";")[:2])
                first, _, last = span.partition("..")
                yield int(first, 16), int(last or first, 16), value


def level_one():
    """What the standards of China, Taiwan, Japan and Korea call their first level; all hangul of KS X 1001."""
    plans = (("gb2312", range(0xB0, 0xD8), range(0xA1, 0xFF)),
             ("big5", range(0xA4, 0xC7), list(range(0x40, 0x7F)) + list(range(0xA1, 0xFF))),
             ("euc_jp", range(0xB0, 0xD0), range(0xA1, 0xFF)), ("euc_kr", range(0xB0, 0xC9), range(0xA1, 0xFF)))
    found = set()
    for codec, leads, trails in plans:
        for lead in leads:
            for trail in trails:
                found |= set(bytes((lead, trail)).decode(codec, "ignore"))
    return {ord(c) for c in found}


def table(kind, name, values, per_line):
    print(f"static constexpr {kind} {name}[{len(values)}] = {{")
    for i in range(0, len(values), per_line):
        print("    " + ", ".join(values[i:i + per_line]) + ",")
    print("};")


def bitmap(name, block, members):
    words = [sum(1 << b for b in range(64) if start + b in members) for start in range(*block, 64)]
    table("uint64_t", name, [f"{w:#x}" for w in words], 5)


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else "/usr/share/unicode"
    name_of = [None] * LIMIT
    for first, last, name in ranges(os.path.join(root, "Scripts.txt")):
        name_of[first:last + 1] = [name] * (last + 1 - first)
    names = sorted({n for n in name_of if n} - {"Common", "Inherited"})
    number = {None: NONE, "Common": COMMON, "Inherited": INHERITED}
    number.update((name, i + 3) for i, name in enumerate(names))
    starts = [c for c in range(LIMIT) if c == 0 or name_of[c] != name_of[c - 1]]
    size = {name: name_of.count(name) for name in names}

    print("// Generated by tools/make_script_table.py from the Unicode Character Database 15.0.0. Do not edit.")
    print("// Data derived from Unicode data files (c) 1991-2022 Unicode, Inc., Unicode License V3.")
    print("enum Script : uint8_t {")
    print(f"  kNoScript = {NONE},  // unassigned, of private use, a surrogate")
    print(f"  kCommonScript = {COMMON},")
    print(f"  kInheritedScript = {INHERITED},")
    for name in NAMED:
        print(f"  k{name} = {number[name]},")
    print(f"  kScripts = {len(names) + 3}")
    print("};")
    print("// First code point << 8 | script, of runs of one script.")
    table("uint32_t", "kScriptRuns", [f"{c << 8 | number[name_of[c]]:#x}" for c in starts], 11)
    print("// Logarithm of the number of a script's characters, in tenths of a bit.")
    table("uint8_t", "kScriptSize", ["0"] * 3 + [str(round(TENTHS * math.log2(size[n]))) for n in names], 30)
    known = level_one()
    for name, block, frequent in zip(NAMES, BLOCKS, (FREQUENT_HAN, FREQUENT_HANGUL)):
        bitmap(f"kFrequent{name}", block, {ord(c) for c in frequent})
        bitmap(f"kLevelOne{name}", block, known)


main()
