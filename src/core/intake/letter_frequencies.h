// The frequencies of the letters of languages, which tell encodings apart that share a script.
#pragma once

#include <string_view>

#include "core/intake/scripts.h"

namespace neardup {

struct LetterFrequencies {
  Script script;
  std::u16string_view letters;  // folded, the most frequent first
  std::string_view bits;        // of each, by letter_bits()

  // The logarithm to base 2 of one letter in so many that is this one.
  double letter_bits(size_t i) const noexcept { return 2.5 + 0.5 * (bits[i] - 'a'); }
};

// Counted in the translations of the messages of free programs; English from tables, a few rare letters by hand.
inline constexpr LetterFrequencies kLetterFrequencies[] = {
    // English
    {kLatin, u"etaoinshrdlcumwfgypbvkjxqzéèïêöüçñáíóàäâôæåø", "bcccdddddeeffgggggghijoopqsuuuuuuuuvvvvvvvvv"},
    // German
    {kLatin, u"enitrsalduhogcmbfkpzwvüyäxöjßqíáéà", "accddddeefffffggghhhiijllmmoppvvvv"},
    // French
    {kLatin, u"eianrstoludcpméfghbvqxykèàjwzêôîçáâïíùûëœÿæ", "bccdddddeeeeffghhiiikkllmnnnnnrruuvvvvvvvvv"},
    // Spanish
    {kLatin, u"eaornisdcltupmbfgvóháqxyjzíúkwéñü", "bccdddddeeefffhiiiijklllmmmnooppv"},
    // Portuguese
    {kLatin, u"eaorisdntcmlpufvãhgbçxáíqzéókúyjõwêâàôü", "bbcddddeeeefffhhiiiijkkkllmnnnnnooostvv"},
    // Italian
    {kLatin, u"eioantrlscdupmgvfzbhèykqwxàjòùéáíìî", "bbcccddddeffffghhiiimmmnnopqrstvvvv"},
    // Catalan
    {kLatin, u"eairstnlodcupmfgbxvhóqàéíèzyjkòúçwïü", "bbcddddddeefffhhhiijjkkkmnnnnnnoopqr"},
    // Dutch
    {kLatin, u"enatirosdlgvmkupbchwfjzyxëqéïóäöüè", "accddddeeefggggggggiijklmqrrsvvvvv"},
    // Swedish
    {kLatin, u"eantrisldokgmfpvuäcböhåyxjwzqéü", "cccccdddeefffggggghiiijjlloqrvv"},
    // Danish
    {kLatin, u"erntilasdkogfmuvpbhyæcøjåxwézqü", "bcccddddeeeeffggghjjjjjklnoqqsv"},
    // Norwegian
    {kLatin, u"ertnilsakodgmvfpubyhåjøcxwæzqéòô", "bccddddddefffgggghjjjjjloppstuvv"},
    // Icelandic
    {kLatin, u"ansrkiltemugíðdáobvfóhpyjúýæöþcwxézqëèŋ", "bcdddddddeeffffgghhhiiiiijjkllmooppsvvv"},
    // Finnish
    {kLatin, u"iteansolkuärmvypdhjbcgöfxwzqšž", "bbccddddeeeffggghhikklllnortuv"},
    // Estonian
    {kLatin, u"aietslunrkodmvgpbäjhõfücxöyšwzžq", "bbcdddeeeeeeefgghiiiijjlnoppprrt"},
    // Latvian
    {kLatin, u"aisterunoklmdpāvējzgbīšcfļūņhxžķwyģčq", "bcccddeeeeeffffgghhhhhijjlllmnoopqqqu"},
    // Lithuanian
    {kLatin, u"aisteornkulmpdvgjybųšėfcžįąčhzūęxwq", "bbcdddddeeeffggghhhhiijkkkllmmmoops"},
    // Polish
    {kLatin, u"aieonrzwtskypcdulmjgbłżhęąśófćńxvźq", "cccddeeeeeeffffffgghhijjjjjkkkmppqs"},
    // Czech
    {kLatin, u"oenatsprivulkídzmácbyhjřčéýžěgšfůxwúóňqťď", "cccddeeeeeeefffggggghhhiiijjjkkklmopqrruv"},
    // Slovak
    {kLatin, u"aoenirtspvkludmzbácyhjčíýúéťžfgšľxwóôäňĺďq", "cccdddeeeeffffggggghhhiiiiijjkkkkmopppqssu"},
    // Hungarian
    {kLatin, u"eatlsnrkiozámégvhbydpcufjíóöőüúxűwq", "cccdddeeeeeefffghhhhhhhhiiijjlmnnpt"},
    // Slovenian
    {kLatin, u"aeionrtskvpldjmzubčgšchžfxywq", "bccccdeeeeefffffghhhiijlloppt"},
    // Croatian
    {kLatin, u"aieonrtsjkpudlmvzgbcčšfhžćđxywqȏô", "bcccddeeeeffffffghhhjkkkllnooostu"},
    // Romanian
    {kLatin, u"eiartnuclsodpămfbgvțţșşzhîxâkjwyq", "bccddddeeeeffffhiiiiiiijkkknnooot"},
    // Albanian
    {kLatin, u"ietraësnumohplkdjgfbvzcyqxwçã", "cccdddddeeefffffgghhijkklmnov"},
    // Turkish
    {kLatin, u"aeilrnıstdkmyoubgşçzücpğhvföxwjqäãåâ", "bccdddeeeeeefffghhhhiiiijjkkopqruvvv"},
    // Esperanto
    {kLatin, u"aoeinrstlkdmupjgvbcfzĉhĝŭŝxywĵĥq", "bccccddddfffffgghhiikllllloppprt"},
    // Maltese
    {kLatin, u"ainrejtlokusmgdżbwpċfġvħxzhcqàyåèìòù", "accddeeeeeefffffgghiiiiillnnosssvvvv"},
    // Welsh
    {kLatin, u"eadinrlyowgtfhscmubpkxŵjŷvâzîêûôëïqáöéẁẃẅ", "cccccdddeeeeefffgghinnnppqrrrrrsstvvvvvvv"},
    // Irish
    {kLatin, u"aihnretcosldmgáíbufpéúóxvkwyjzqḃċḋḟġṁṗṡṫ", "bcccddeeeeeefggghhhhiijnoooprsuvvvvvvvvv"},
    // Basque
    {kLatin, u"aeirtnokuzdlbgsmphfxcjyvwq", "abcccdddeefffgghhijjmnoopu"},
    // Indonesian
    {kLatin, u"ainetkrsdulmgpobhcfyjvwxzq", "acccdddeeeeeffffgijjklmnrs"},
    // Vietnamese
    {kLatin, u"nhticgauđopkmlrsbdeyôưáàvếểệạêộảịậợốóxầớấùặỗụfọíủờãìềqữựýâứơúỉỏởổắòửừồẫăwéỡằẩõĩẽũzẻjẵèỳẹỹễỷẳ",
     "cccdddffggggggghhhhhiiiiiijjjjjjjjjjkkklllllllllmmmmmmmmmnnnnnnnnnnnnooopppppqrrrrssttuvvvvv"},
    // Vietnamese, tones as marks
    {kLatin, u"nhtiac\u0323\u0301guoê\u0300ô\u0309đpkưmlrâơesybd\u0303văxfqwzj",
     "ccdddeeeefffffgggggghhhhhhhiiijjkmmpst"},
    // Russian
    {kCyrillic, u"оеаинтрслвкпдмуязьыйбчгжфцхюшщэёъ", "ccccdddeeeffffggggghhiijjkkkklnor"},
    // Ukrainian
    {kCyrillic, u"аноиевтіркслдпумязбьйгчжцхєфшюїщґ", "cccddeeeeeefffffgghhiiijjjkkkklmv"},
    // Belarusian
    {kCyrillic, u"анркіслыетдямвуопцэзьбгўчйхшфжюё", "acdeeeeeeffffffffgggghhhiijjjklm"},
    // Bulgarian
    {kCyrillic, u"аениотрсвдкплзмъябучгжйфцшщхю", "bccccddeefffffghhhiijjjjkkllo"},
    // Serbian
    {kCyrillic, u"аеионртскупдвмјзлбгшњчцљжћхфђџ", "bcccddeeeeefffggghhiiijklllmnt"},
    // Macedonian
    {kCyrillic, u"аеоинтрксвдлпмузбјгчцжњшфхќѓџ", "acccdddeefffffghhhiijjkklopqr"},
    // Greek
    {kGreek, u"αοσετνιρμηκπυλίδγήέάόχωθφύβώξζψϊϋΐΰ", "cccddddeeeffffgggggghhiijjkkmmpsvvv"},
    // Hebrew
    {kHebrew, u"יוהתלמראנבקשפסדגטעםחןכצזךץף\u05be", "bcddddddeeefffggghhhhiijllnv"},
    // Arabic
    {kArabic, u"اليمروتةندفسبعكحقجصأهطخغشإزذضىثئءظؤـآ", "bbcddeeeeffffggghhhhiiiiijjjkklmmooqr"},
    // Persian
    {kArabic, u"اینرودهتمبسلکشپجزگفخعقصطحآچغظئذضژثءأ", "bbccddeeefffgghhhhhiiijkkllmmnnopquu"},
    // Hindi
    {kDevanagari,
     u"\u093eक\u094dर\u093f\u0947नस\u0902तपलयमह\u0940\u094bवट\u0948बदजग\u0941डफअ\u0942च\u093cएशइआथखषध\u0949णभईउछऑ\u0901"
     u"\u0943ठ\u094cऔढऊओघ\u0903ञज़ऐफ़झ",
     "cddddeeeffffffffgghhhhhhiiiijjjjjjkkkkllllllmmmnnoopqqrrttuvv"},
    // Marathi
    {kDevanagari,
     u"\u093e\u094dरकन\u093f\u0947लतम\u0940स\u094bपयव\u0941गबह\u0902चटअडजदशआणफ\u0942इषध\u0945उओभएळख\u0948थझ\u0949ठ"
     u"\u094cघऑ\u0943ढईछऊऐ\u0901\u0903ऍऱऔॲञ",
     "ccdeeeeffffffffffgghhhhhiiiijjjjjkkllllllmmmnnnnnoooppqsuuuvvvv"},
    // Nepali
    {kDevanagari,
     u"\u094d\u093eरन\u093fकस\u094bलपयतमग\u0947\u0941हवटदजबछअ\u0940इ\u0942चडणफ\u0948भउएधखष\u0901शथई\u0902ङआ\u0943ठञढझऔघ"
     u"\u094cऊओ",
     "cccdeeefffffffggghhhiiiiiiijjjjjjjjkkkkkklllmnnnoppqqtt"},
    // Bengali
    {kBengali,
     u"\u09be\u09cdর\u09bfন\u09c7কবসমতপলযটয়\u09c1\u09cbইজহগদআডশঅচথভউফ\u0982ষও\u09c0ধএছণখ\u09c2\u09c3ঙ\u09c8ঞড়\u0981ঠঘ"
     u"\u09bcঝৎ\u0983\u09ccঢঊ",
     "bccdddeefffffggggghiiiiiiiijjjjkkkkkkkkklmnooppqqqruvvvvv"},
    // Punjabi
    {kGurmukhi,
     u"\u0a3eਰ\u0a40ਕਨਲ\u0a47\u0a4bਸ\u0a3fਮਟ\u0a42ਗਵਬ\u0a02ਹਪਡ\u0a71\u0a48ਤਈਜਦਆ\u0a70ਅਚਇ\u0a41ਣਫਯਖ\u0a3cਸ਼ਓਉਊਜ਼ਭ\u0a4cੜਥ"
     u"\u0a4dਏਧਐਘਛਠਢਝਫ਼ਔ",
     "bdeeeeeeeffffgggggghhhhhhhhhiiiijjjkkllllllmnnnnnoooqqrvv"},
    // Gujarati
    {kGujarati,
     u"\u0abe\u0acdનર\u0ac7\u0ac0ક\u0acbમ\u0abfવતલસપય\u0a82\u0ac1ટબજગશહદડથફઅછચ\u0ac2આઓળણભઇખધષઈએઉઝઘઠ\u0ac3\u0ac8ઊ\u0ac5"
     u"\u0ac9ઑ\u0accઞઢઍ\u0a83",
     "cddddeeeeffffffggggghhiiiiiijjjjjkkkkkkkkllmopqqqqqrrssuvv"},
    // Odia
    {kOriya,
     u"\u0b3e\u0b4d\u0b3fରକନତବ\u0b47ସ\u0b41ପମ\u0b4bଲଗହଟୟଣଆଇଚଦଯଡ\u0b40ଜଶଷଅଭଏଙଥୱ\u0b01ଧ\u0b42ଉଳଫ\u0b3cଖ\u0b02ଛ\u0b43ଓଠ"
     u"\u0b48ଞଘ\u0b4cଢଝଈ\u0b03ଋ",
     "bccdeeeefffffgghhhhhiiiiiiijjjjjjjjkkkkkkkllllmnnopqqrsstt"},
    // Tamil
    {kTamil,
     u"\u0bcdக\u0bbf\u0bbe\u0bc1படதமரனயல\u0bcbவச\u0bc8\u0bc6\u0bc7றநளஸஅஙஇஹழ\u0bcaண\u0bc0உஜஎ\u0bc2ஒஷஃஆஏஐஓ\u0bccஞஈஊ",
     "bcddddeeeeeefffgghhiiiijkkkkkkkklmmmnnoqqqqttv"},
    // Telugu
    {kTelugu,
     u"\u0c4d\u0c41\u0c3fరనక\u0c3eల\u0c02పమవసదతయటచడ\u0c47బగ\u0c4b\u0c46\u0c40అ\u0c4aశష\u0c48ఫజ\u0c42ణఆహభధథఎఉఇఖఒ\u0c43ఈఠ"
     u"\u0c4cళఐఏఞ\u0c56\u0c03ఛఊఘఓఝ",
     "cccdeeeeefffffgggghhhhhhijjjjkkkkklmmmmnnnnoooopppqrssttttu"},
    // Kannada
    {kKannada,
     u"\u0ccd\u0cbf\u0cbeನರ\u0cc1ಲಕ\u0cc6ಸಗಯವ\u0c82ಮದಟಬತ\u0ccaಪಡಅ\u0ccbಹ\u0cc7ಳಶಜಚ\u0cc0ಷಣ\u0cc2ಫಎಆ\u0cc8ಒಇಭ\u0cccಥಝಉಈಖ"
     u"ಧಠ\u0cc3ಓಘಏಐಛಢಞ\u0c83ಔ",
     "bcddeeeeeffffffggggghhiiijjjjkkkllllmmmmmmnnnoooqrsssttuvvv"},
    // Malayalam
    {kMalayalam,
     u"\u0d4dക\u0d3fന\u0d41ല\u0d3eയരറതപമളടസവ\u0d46\u0d02\u0d4bണ\u0d47ചബഡ\u0d40ജഅങഷഗ\u0d42എശഫഇഭധആദഉഞ\u0d48ഒഹഥഴ\u0d4aഈഓഖഏ"
     u"\u0d4c\u0d43ഐഘഔഛ",
     "adddeeefffffgggggghhiiijjjjjjkkkkklllllllmmnnnoppppqqrrtvv"},
    // Sinhala
    {kSinhala,
     u"\u0dca\u0dd2නයවර\u0dcfකතමස\u0dd4පලජදහ\u0dd0බ\u0ddcග\u0dd3ට\u0dda\u0dd9ළඅණශ\u0dddඩ\u0dd6ඇ\u0d82ඹෂඉධඳඑභඋ\u0dd8ථආෆච"
     u"ඔඟඛඊ\u0dd1\u0ddbඒඕඤඝඬඥ\u0df2",
     "ccddddeeeeeefggghhhhhhhhiiiijjkkklllmmmmnnnnoopprsssttttvvvv"},
    // Thai
    {kThai,
     u"ารอกนมเ\u0e48\u0e49\u0e31ล\u0e35ดงต\u0e34สบยวแไ\u0e4cคทขปจห\u0e39พะชโ\u0e37ซ\u0e38ำใฟถณ\u0e47ภผธษฐฮ\u0e36ญศฉฤฝๆฏ"
     u"\u0e4aฑฬฎ",
     "dddeeeeefffffffgggggghhhhhhhhiiiiiiijjjjjkkllmmnnnopqrssuvvvv"},
    // Japanese, hiragana
    {kHiragana,
     u"のますしでをはにがせんいたるてなれきりさとあかみこらくけうめよだつっもわえばへどおぎそびじべむやずちごょろづぐほ"
     u"げぬぞひぱぁぃぅぇぉゃゅぢぴぷぺぽゐゑゔ",
     "ccddddeeeefffffggggghhhjjjjkkklllllmmmmnnnnnoopppqtuuvvvvvvvvvvvvvvvvvvvvvvv"},
};

}  // namespace neardup
