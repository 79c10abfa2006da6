#!/usr/bin/python3
"""Detection of encodings: every script of Unicode in every form, every encoding that PostgreSQL converts, and the
damage that occurs in files. Prints accuracy and confidence, and asserts their least values."""
import bisect
import collections
import glob
import random
import unicodedata

from harness import *

random.seed(20240229)
FORMS = {"UTF8": "utf-8", "UTF16LE": "utf-16-le", "UTF16BE": "utf-16-be", "UTF32LE": "utf-32-le",
         "UTF32BE": "utf-32-be"}
NO_SCRIPT = 0  # kNoScript of script_table.inc
CONFIDENT = 0.95  # from here on, answers must be right in this share

# Article 1 of the Universal Declaration of Human Rights.
SENTENCES = {
    "German":
        "Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit Vernunft und Gewissen begabt "
        "und sollen einander im Geiste der Brüderlichkeit begegnen.",
    "French":
        "Tous les êtres humains naissent libres et égaux en dignité et en droits. Ils sont doués de raison et de "
        "conscience et doivent agir les uns envers les autres dans un esprit de fraternité.",
    "Spanish":
        "Todos los seres humanos nacen libres e iguales en dignidad y derechos y, dotados como están de razón y "
        "conciencia, deben comportarse fraternalmente los unos con los otros. La educación de los niños será gratuita.",
    "Portuguese":
        "Todos os seres humanos nascem livres e iguais em dignidade e em direitos. Dotados de razão e de consciência, "
        "devem agir uns para com os outros em espírito de fraternidade.",
    "Italian":
        "Tutti gli esseri umani nascono liberi ed eguali in dignità e diritti. Essi sono dotati di ragione e di "
        "coscienza e devono agire gli uni verso gli altri in spirito di fratellanza, perché così è più giusto.",
    "Swedish":
        "Alla människor är födda fria och lika i värde och rättigheter. De har utrustats med förnuft och samvete och "
        "bör handla gentemot varandra i en anda av gemenskap.",
    "Danish":
        "Alle mennesker er født frie og lige i værdighed og rettigheder. De er udstyret med fornuft og samvittighed, "
        "og de bør handle mod hverandre i en broderskabets ånd.",
    "Finnish":
        "Kaikki ihmiset syntyvät vapaina ja tasavertaisina arvoltaan ja oikeuksiltaan. Heille on annettu järki ja "
        "omatunto, ja heidän on toimittava toisiaan kohtaan veljeyden hengessä.",
    "Icelandic":
        "Hver maður er borinn frjáls og jafn öðrum að virðingu og réttindum. Menn eru gæddir vitsmunum og samvisku, "
        "og ber þeim að breyta bróðurlega hverjum við annan.",
    "Polish":
        "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw. Są oni obdarzeni rozumem i "
        "sumieniem i powinni postępować wobec innych w duchu braterstwa.",
    "Czech":
        "Všichni lidé rodí se svobodní a sobě rovní co do důstojnosti a práv. Jsou nadáni rozumem a svědomím a mají "
        "spolu jednat v duchu bratrství.",
    "Slovak":
        "Všetci ľudia sa rodia slobodní a sebe rovní, čo sa týka ich dôstojnosti a práv. "
        "Sú obdarení rozumom a svedomím a majú navzájom jednať v bratskom duchu.",
    "Hungarian":
        "Minden emberi lény szabadon születik és egyenlő méltósága és joga van. Az emberek, ésszel és lelkiismerettel "
        "bírván, egymással szemben testvéri szellemben kell hogy viseltessenek.",
    "Slovenian":
        "Vsi ljudje se rodijo svobodni in imajo enako dostojanstvo in enake pravice. Obdarjeni so z razumom in vestjo "
        "in bi morali ravnati drug z drugim kakor bratje. Človečnost je začetek, življenje naš cilj.",
    "Croatian":
        "Sva ljudska bića rađaju se slobodna i jednaka u dostojanstvu i pravima. Ona su obdarena razumom i sviješću i "
        "treba da jedno prema drugome postupaju u duhu bratstva.",
    "Romanian":
        "Toate ființele umane se nasc libere și egale în demnitate și în drepturi. Ele sunt înzestrate cu rațiune și "
        "conștiință și trebuie să se comporte unele față de altele în spiritul fraternității.",
    "Turkish":
        "Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar. Akıl ve vicdana sahiptirler ve birbirlerine "
        "karşı kardeşlik zihniyeti ile hareket etmelidirler.",
    "Lithuanian":
        "Visi žmonės gimsta laisvi ir lygūs savo orumu ir teisėmis. Jiems suteiktas protas ir sąžinė ir jie turi "
        "elgtis vienas kito atžvilgiu kaip broliai. Kiekvienas žmogus turi teisę į gyvybę.",
    "Latvian":
        "Visi cilvēki piedzimst brīvi un vienlīdzīgi savā pašcieņā un tiesībās. Viņi ir apveltīti ar saprātu un "
        "sirdsapziņu, un viņiem jāizturas citam pret citu brālības garā.",
    "Estonian":
        "Kõik inimesed sünnivad vabadena ja võrdsetena oma väärikuselt ja õigustelt. Neile on antud mõistus ja "
        "südametunnistus ja nende suhtumist üksteisesse peab kandma vendluse vaim.",
    "Esperanto":
        "Ĉiuj homoj estas denaske liberaj kaj egalaj laŭ digno kaj rajtoj. Ili posedas racion kaj konsciencon, "
        "kaj devus konduti unu al alia en spirito de frateco. Ĝis la revido, ŝanĝiĝos ĉio ĉi.",
    "Maltese":
        "Il-bnedmin kollha jitwieldu ħielsa u ugwali fid-dinjità u d-drittijiet. Huma mogħnija bir-raġuni u "
        "bil-kuxjenza u għandhom iġibu ruħhom ma' xulxin bi spirtu ta' aħwa.",
    "Welsh":
        "Genir pawb yn rhydd ac yn gydradd â'i gilydd mewn urddas a hawliau. Fe'u cynysgaeddir â rheswm a chydwybod, "
        "a dylai pawb ymddwyn y naill at y llall mewn ysbryd cymodlon. Mae'r tŷ ger y dŵr, a'r ŵyl yn y gŵr.",
    "Vietnamese":
        "Tất cả mọi người sinh ra đều được tự do và bình đẳng về nhân phẩm và quyền lợi. Mọi con người đều được tạo "
        "hoá ban cho lý trí và lương tâm và cần phải đối xử với nhau trong tình anh em.",
    "Russian":
        "Все люди рождаются свободными и равными в своем достоинстве и правах. Они наделены разумом и совестью и "
        "должны поступать в отношении друг друга в духе братства.",
    "Ukrainian":
        "Всі люди народжуються вільними і рівними у своїй гідності та правах. Вони наділені розумом і совістю і "
        "повинні діяти у відношенні один до одного в дусі братерства. Їжак з'їв єдиний ґудзик.",
    "Belarusian":
        "Усе людзі нараджаюцца свабоднымі і роўнымі ў сваёй годнасці і правах. Яны надзелены розумам і сумленнем і "
        "павінны ставіцца адзін да аднаго ў духу брацтва.",
    "Bulgarian":
        "Всички хора се раждат свободни и равни по достойнство и права. Те са надарени с разум и съвест и следва да се "
        "отнасят помежду си в дух на братство.",
    "Serbian":
        "Сва људска бића рађају се слободна и једнака у достојанству и правима. Она су обдарена разумом и свешћу и "
        "треба једни према другима да поступају у духу братства.",
    "Macedonian":
        "Сите човечки суштества се раѓаат слободни и еднакви по достоинство и права. Тие се обдарени со разум и совест "
        "и треба да се однесуваат еден кон друг во духот на општо човечката припадност.",
    "Greek":
        "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα. "
        "Είναι προικισμένοι με λογική και συνείδηση, και οφείλουν να συμπεριφέρονται μεταξύ τους με πνεύμα "
        "αδελφοσύνης.",
    "Hebrew":
        "כל בני אדם נולדו בני חורין ושווים בערכם ובזכויותיהם. כולם חוננו בתבונה ובמצפון, לפיכך חובה עליהם לנהוג איש "
        "ברעהו ברוח של אחווה.",
    "Arabic":
        "يولد جميع الناس أحرارا متساوين في الكرامة والحقوق. وقد وهبوا عقلا وضميرا وعليهم أن يعامل بعضهم بعضا "
        "بروح الإخاء.",
    "Thai":
        "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ ต่างมีเหตุผลและมโนธ"
        "รรม และควรปฏิบัติต่อกันด้วยเจตนารมณ์แห่งภราดรภาพ",
    "Japanese":
        "すべての人間は、生れながらにして自由であり、かつ、尊厳と権利とについて平等である。人間は、"
        "理性と良心とを授けられており、互いに同胞の精神をもって行動しなければならない。",
    "Korean":
        "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. 인간은 천부적으로 이성과 양심을 "
        "부여받았으며 서로 형제애의 정신으로 행동하여야 한다.",
    "Chinese, simplified":
        "人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心，并应以兄弟关系的精神相对待。"
        "人人有资格享受本宣言所载的一切权利和自由。",
    "Chinese, traditional":
        "人人生而自由，在尊嚴和權利上一律平等。他們賦有理性和良心，並應以兄弟關係的精神相對待。"
        "人人有資格享受本宣言所載的一切權利和自由。",
}
WEST = ["LATIN1", "WIN1252", "LATIN9"]
CENTRAL = ["LATIN2", "WIN1250"]
BALTIC = ["WIN1257", "LATIN7", "LATIN4"]
CYRILLIC = ["WIN1251", "ISO_8859_5"]
WRITTEN_IN = {
    "German": WEST + CENTRAL, "French": WEST, "Spanish": WEST, "Portuguese": WEST, "Italian": WEST, "Swedish": WEST,
    "Danish": WEST, "Finnish": WEST, "Icelandic": WEST + ["LATIN6"], "Polish": CENTRAL, "Czech": CENTRAL,
    "Slovak": CENTRAL, "Hungarian": CENTRAL, "Slovenian": CENTRAL, "Croatian": CENTRAL,
    "Romanian": CENTRAL + ["LATIN10"], "Turkish": ["WIN1254", "LATIN5"], "Lithuanian": BALTIC + ["LATIN6"],
    "Latvian": BALTIC + ["LATIN6"], "Estonian": BALTIC + ["LATIN6"], "Esperanto": ["LATIN3"], "Maltese": ["LATIN3"],
    "Welsh": ["LATIN8"], "Vietnamese": ["WIN1258"], "Russian": CYRILLIC + ["KOI8R", "WIN866"],
    "Ukrainian": ["WIN1251", "KOI8U"], "Belarusian": CYRILLIC, "Bulgarian": CYRILLIC + ["WIN866"], "Serbian": CYRILLIC,
    "Macedonian": CYRILLIC, "Greek": ["WIN1253", "ISO_8859_7"], "Hebrew": ["WIN1255", "ISO_8859_8"],
    "Arabic": ["WIN1256", "ISO_8859_6"], "Thai": ["WIN874"],
    "Japanese": ["SJIS", "EUC_JP", "SHIFT_JIS_2004", "EUC_JIS_2004"], "Korean": ["UHC", "EUC_KR"],
    "Chinese, simplified": ["GB18030", "GBK", "EUC_CN"], "Chinese, traditional": ["BIG5", "EUC_TW", "GB18030"],
}
# PostgreSQL decodes its own JOHAB wrongly; MULE_INTERNAL and SQL_ASCII become no UTF8.
NOT_TRIED = {"JOHAB", "MULE_INTERNAL", "SQL_ASCII", "UTF8"}
# Romanian is the same bytes in LATIN2 and LATIN10; nothing tells them apart but its letters' shape.
UNDECIDABLE = {"LATIN10"}

Answer = collections.namedtuple("Answer", "group what right confidence name")


class Tally:
    """Answers of all sections, for the accuracy of each group and the confidence of all."""

    def __init__(self):
        self.answers = []

    def ask(self, conn, group, what, raw, true_name, want=None):
        body, name, confidence, _ = conn.execute("SELECT * FROM neardup_decode(%s)", (raw,)).fetchone()
        if want is None:
            want = conn.execute("SELECT body FROM neardup_decode(%s, %s)", (raw, true_name)).fetchone()[0]
        self.answers.append(Answer(group, what, body == want, confidence, name))

    def report(self, prefix, least):
        groups = collections.defaultdict(list)
        for a in self.answers:
            if a.group.startswith(prefix):
                groups[a.group].append(a)
        for group in sorted(groups):
            answers = groups[group]
            wrong = collections.Counter(a.name for a in answers if not a.right)
            print("# %s: %d of %d right%s" % (group, sum(a.right for a in answers), len(answers),
                                              "; wrong: " + ", ".join(
                                                  "%s %d" % w for w in wrong.most_common(5)) if wrong else ""),
                  flush=True)
        answers = [a for g in groups.values() for a in g]
        share = sum(a.right for a in answers) / len(answers)
        bad = [a for a in answers if not a.right]
        check("%s: %.2f of %d answers are right" % (prefix, least, len(answers)), share >= least,
              "%.4f; %s" % (share, bad[:5]))

    def calibration(self):
        for low, high in ((0, 0.25), (0.25, 0.5), (0.5, 0.75), (0.75, CONFIDENT), (CONFIDENT, 0.999), (0.999, 1.1)):
            inside = [a.right for a in self.answers if low <= a.confidence < high]
            if inside:
                print("# confidence from %.3f: %d answers, %.3f right" % (low, len(inside), sum(inside) / len(inside)),
                      flush=True)
        sure = [a for a in self.answers if a.confidence >= CONFIDENT]
        share = sum(a.right for a in sure) / len(sure)
        check("confidence of %.2f or more is deserved" % CONFIDENT, share >= CONFIDENT,
              "%.4f of %d; %s" % (share, len(sure), [a for a in sure if not a.right][:5]))


def project_scripts():
    """(first code point, script) of each run in script_table.inc: the Unicode that is frozen there, older than Python's
    may be."""
    with open(glob.glob(os.path.join(ROOT, "src", "*", "**", "script_table.inc"), recursive=True)[0],
              encoding="ascii") as f:
        runs = re.search(r"kScriptRuns\[\d+\] = \{(.*?)\}", f.read(), re.S).group(1)
    return [(int(run, 16) >> 8, int(run, 16) & 0xFF) for run in re.findall(r"0x\w+", runs)]


def scripts_of_unicode():
    """Letters and marks by script, as the names of characters have it."""
    ends = {"LETTER", "LETTERS", "SYLLABLE", "SYLLABICS", "VOWEL", "CONSONANT", "SIGN", "CAPITAL", "SMALL", "IDEOGRAPH",
            "LIGATURE", "CHARACTER", "HIEROGLYPH", "LOGOGRAM", "PHASE-A", "INDEPENDENT", "SUBJOINED", "HALFWIDTH",
            "SIGNS", "DIGIT", "NUMBER", "TONE", "MARK", "FINAL", "PHARYNGEAL", "MONOGRAM", "KANA"}
    found = collections.defaultdict(list)
    runs = project_scripts()
    starts = [start for start, _ in runs]
    for code in range(0x110000):
        c = chr(code)
        at = bisect.bisect_right(starts, code) - 1
        if unicodedata.category(c) not in ("Lu", "Ll", "Lo", "Mn", "Mc") or at < 0 or runs[at][1] == NO_SCRIPT:
            continue
        words = unicodedata.name(c, "").split()
        stop = next((i for i, w in enumerate(words) if w.split("-")[0] in ends or w.startswith("IDEOGRAPH-")), None)
        if stop:
            found[" ".join(words[:stop])].append(c)
    han = [c for c in found.pop("CJK UNIFIED", []) if 0x4E00 <= ord(c) < 0x9FA6] or [
        chr(c) for c in range(0x4E00, 0x9FA6)]
    few = {name: letters for name, letters in found.items() if len(letters) >= 20 and not name.startswith(
        ("MATHEMATICAL", "VARIATION", "CJK", "COMBINING"))}
    few["HAN"] = han
    few["HANGUL"] = [chr(c) for c in range(0xAC00, 0xD7A4)]
    return few


def random_words(letters, characters, spaces, line_end):
    out = ""
    while len(out) < characters:
        out += "".join(random.choice(letters) for _ in range(random.randint(2, 7)))
        out += "" if not spaces else line_end if random.random() < 0.1 else " "
    return out[:characters]


def unicode_forms(conn, tally):
    scripts = scripts_of_unicode()
    check("the names of Unicode's characters give its scripts", len(scripts) > 130, len(scripts))
    named = []
    for script, letters in sorted(scripts.items()):
        small = [c for c in letters if unicodedata.category(c) != "Lu"] or letters
        for characters, spaces, line_end in ((12, True, "\n"), (60, True, "\r\n"), (60, False, ""), (600, True, "\n")):
            text = random_words(small, characters, spaces, line_end)
            for form, codec in FORMS.items():
                raw = text.encode(codec)
                what = "%s, %d characters" % (script, characters)
                tally.ask(conn, "Unicode, detected, %s" % form, what, raw, form, text)
                tally.ask(conn, "Unicode, with a mark, %s" % form, what, "\ufeff".encode(codec) + raw, form, text)
                if form != "UTF8":
                    named.append((what, raw, form[:5], text))
    for language, sentence in SENTENCES.items():
        for text in (sentence, sentence[:20], sentence.replace(" ", "\r\n"),
                     sentence.replace(" ", "\t", 3) + " \U0001F600\n"):
            for form, codec in FORMS.items():
                tally.ask(conn, "Unicode, sentences, %s" % form, language, text.encode(codec), form, text)
    good = [conn.execute("SELECT body = %s FROM neardup_decode(%s, %s)", (text, raw, form)).fetchone()[0]
            for _, raw, form, text in named]
    bad = [(what, form) for ok, (what, _, form, _) in zip(good, named) if not ok]
    check("UTF-16 and UTF-32 by name, either order, every script (%d)" % len(good), len(bad) <= 0.002 * len(good),
          (len(bad), bad[:10]))
    tally.report("Unicode, with a mark", 1)
    tally.report("Unicode, detected", 0.99)
    tally.report("Unicode, sentences", 0.99)


def encoded(conn, text, encoding):
    """convert_to(), None where the encoding lacks a character."""
    if encoding == "WIN1258":
        text = tones_apart(text)
    if encoding in CENTRAL:
        text = text.translate(str.maketrans("șțȘȚ", "şţŞŢ"))
    try:
        return conn.execute("SELECT convert_to(%s, %s)", (text, encoding)).fetchone()[0]
    except psycopg.Error:
        return None


def tones_apart(text):
    """Vietnamese as Windows writes it: tones are marks behind their letters."""
    tones = "\u0300\u0301\u0303\u0309\u0323"
    out = ""
    for c in text:
        parts = unicodedata.normalize("NFD", c)
        out += unicodedata.normalize("NFC", "".join(p for p in parts if p not in tones)) + "".join(
            p for p in parts if p in tones)
    return out


def broken_fifth(raw):
    """The last byte of every fifth sequence above ASCII is another."""
    text, out, high = raw.decode(), bytearray(), 0
    for c in text:
        high += c >= "\x80"
        out += c.encode()[:-1] + b"\xff" if c >= "\x80" and high % 5 == 0 else c.encode()
    return bytes(out)


def lost_fifth(raw):
    """Every fifth byte above ASCII is lost."""
    out, high = bytearray(), 0
    for b in raw:
        high += b >= 0x80
        if b < 0x80 or high % 5:
            out.append(b)
    return bytes(out)


DAMAGES = (("a control byte", lambda raw: raw + b"\x1a"),
           ("control bytes within", lambda raw: b"\x01".join(raw.split(b" ")) + b"\x07\n"),
           ("cut", lambda raw: raw[:-1]), ("CRLF", lambda raw: raw.replace(b". ", b".\r\n")))


def byte_encodings(conn, tally):
    known = {r[0] for r in conn.execute("SELECT DISTINCT pg_encoding_to_char(conforencoding) FROM pg_conversion "
                                        "WHERE pg_encoding_to_char(contoencoding) = 'UTF8' AND condefault")}
    tried = set()
    for language, encodings in WRITTEN_IN.items():
        for encoding in encodings:
            raw = encoded(conn, SENTENCES[language], encoding)
            if not check("%s has %s" % (encoding, language), raw is not None):
                continue
            tried.add(encoding)
            group = "Undecidable, %s" % encoding if encoding in UNDECIDABLE else "Bytes, %s" % encoding
            tally.ask(conn, group, language, raw, encoding)
            tally.ask(conn, group, language + " in capitals",
                      encoded(conn, SENTENCES[language].upper(), encoding) or raw, encoding)
            tally.ask(conn, group, language + " in XML",
                      b"".join(b"<p class='text' id='%d'>%s</p>\n" % (i, s) for i, s in enumerate(raw.split(b". "))),
                      encoding)
            for name, damage in DAMAGES:
                tally.ask(conn, group, "%s, %s" % (language, name), damage(raw), encoding)
            short = SENTENCES[language].split(" ")
            for words in (2, 4, 8):
                piece = encoded(conn, " ".join(short[:words]), encoding) if len(short) > 8 else encoded(
                    conn, SENTENCES[language][:4 * words], encoding)
                if any(b >= 0x80 for b in piece):
                    tally.ask(conn, group.replace("Bytes", "Short bytes"), "%s, %d words" % (language, words), piece,
                              encoding)
    check("every encoding that PostgreSQL converts is tried", known - NOT_TRIED <= tried,
          sorted(known - NOT_TRIED - tried))
    tally.report("Bytes", 0.97)
    tally.report("Short bytes", 0.75)
    tally.report("Undecidable", 0)


def damaged_utf8(conn, tally):
    for language, text in SENTENCES.items():
        raw = text.encode()
        tally.ask(conn, "Damaged UTF8", language, raw, "UTF8", text)
        for name, damage in DAMAGES + (("a fifth broken", broken_fifth),
                                       ("a fifth broken and a control byte", lambda r: broken_fifth(r) + b"\x1a"),
                                       ("a fifth lost", lost_fifth)):
            tally.ask(conn, "Damaged UTF8", "%s, %s" % (language, name), damage(raw), "UTF8")
        for control in list(range(9)) + [0x0B] + list(range(0x0E, 0x1B)) + list(range(0x1C, 0x20)) + [0x7F]:
            tally.ask(conn, "UTF8 and a control byte", "%s, %02x" % (language, control),
                      raw[:9].decode("utf-8", "ignore").encode() + bytes([control]), "UTF8")
            tally.ask(conn, "UTF8 and a control byte", "ASCII, %02x" % control,
                      b"build done" + bytes([control]) + b"\n", "UTF8")
    columns = b"".join(b"%d\t%d\t%d\n" % (i % 10, i * 3 % 10, i * 7 % 10) for i in range(200))
    for text in (columns, columns.replace(b"\t", b"\x01"), columns.replace(b"\n", b"\r\n") + b"\x1a",
                 b"a\tb\tc\td\n" * 9, b"\t" * 50, b"\r\n" * 50, b"\x0c\n" * 9,
                 b"1\x01foo\x012021-03-04\x01\\N\n2\x01bar\x012021-03-05\x01x\n", b"a\x00b.txt\x00some/name.c\x00",
                 b"\x00" * 64, b"name\x1fvalue\x1e", b"b\x08bo\x08ol\x08ld\x08d", b"\x1b[1mbold\x1b[0m"):
        tally.ask(conn, "ASCII and control bytes", repr(text[:20]), text, "UTF8")
    tally.report("Damaged UTF8", 0.98)
    tally.report("UTF8 and a control byte", 0.99)
    tally.report("ASCII and control bytes", 1)


def real_texts(conn, tally):
    """The Universal Declaration in many languages: pieces of it in every form and encoding that has it."""
    path = data_file("udhr", "docs.tsv.gz")
    if not path:
        return
    load(conn, "udhr", "id text, language text, encoding text, body text, raw bytea", path)
    bodies = conn.execute(
        "SELECT DISTINCT ON (language) language, body FROM udhr WHERE body IS NOT NULL "
        "AND encoding IN ('UTF8', 'Latin1', 'GB2312', 'SJIS') ORDER BY language, encoding DESC").fetchall()
    encodings = sorted({e for names in WRITTEN_IN.values() for e in names} - UNDECIDABLE)
    for language, body in bodies:
        body = body.translate(dict.fromkeys(range(0x80, 0xA0)))
        for size in (30, 200, 1000):
            at = random.randrange(max(1, len(body) - size))
            text = body[at:at + size].replace("\ufeff", "")
            for form, codec in FORMS.items():
                tally.ask(conn, "Real texts, %s" % form, "%s, %d" % (language, size), text.encode(codec), form, text)
            tally.ask(conn, "Real texts, UTF8 of which a fifth is broken", "%s, %d" % (language, size),
                      broken_fifth(text.encode()), "UTF8")
            for encoding in encodings if FULL or size == 200 else ():
                raw = encoded(conn, text, encoding)
                if raw and any(b >= 0x80 for b in raw) and encoding not in FORMS:
                    tally.ask(conn, "Real texts, bytes", "%s %s, %d" % (language, encoding, size), raw, encoding)
    tally.report("Real texts", 0.9)


def foreign(conn, tally):
    """Encodings that nobody here converts: all answers are wrong, which confidence must say."""
    for codec in ("cp437", "cp850", "cp852", "cp855", "cp857", "mac_roman", "mac_latin2", "mac_cyrillic", "johab",
                  "hp_roman8", "cp037", "cp1026"):
        for language, text in SENTENCES.items():
            raw = text.encode(codec, "ignore")
            if codec == "johab" and language != "Korean" or len(raw) < len(text) - 2 or all(b < 0x80 for b in raw):
                continue
            body, name, confidence, _ = conn.execute("SELECT * FROM neardup_decode(%s)", (raw,)).fetchone()
            tally.answers.append(Answer("Foreign, %s" % codec, language, body == text, confidence, name))
    tally.report("Foreign", 0)
    # The small letters of MacCyrillic and WIN1251 are the same bytes.
    sure = [a for a in tally.answers if a.group.startswith("Foreign") and "cyrillic" not in a.group and not a.right
            and a.confidence >= CONFIDENT]
    check("few texts in encodings that nobody converts are taken for others with confidence", len(sure) <= 3, sure)


def main():
    with database() as name, connect(name) as conn:
        tally = Tally()
        sections((unicode_forms, conn, tally), (byte_encodings, conn, tally), (damaged_utf8, conn, tally),
                 (real_texts, conn, tally), (foreign, conn, tally))
        tally.calibration()


finish(main)
