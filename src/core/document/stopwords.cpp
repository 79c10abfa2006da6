// See stopwords.h. The lists were compiled for this project from the closed classes of words of each language:
// articles, pronouns, prepositions, conjunctions, particles, auxiliary and modal verbs, the commonest adverbs of
// degree, time and place. They stand in signatures that people keep: a changed list is another function, so they are
// frozen. An apostrophe separates words: the parts of contractions are words of their own (don t, l d qu).
#include "core/document/stopwords.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/message_text.h"
#include "core/document/words.h"

namespace neardup {
namespace {

struct Language {
  const char* names[4];  // English name, codes
  const char* words;
};

// The formatter would break every line that is full.
// clang-format off
constexpr Language kLanguages[] = {
    {{"english", "en", "eng", nullptr},
     "a an the "
     "i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself she her hers "
     "herself it its itself they them their theirs themselves one oneself "
     "this that these those who whom whose which what where when why how whoever whatever whichever whenever wherever "
     "and or but nor so yet if then else than because although though unless until while whereas whether as since lest "
     "of in on at by for with about against between among through during before after above below to from up down out "
     "off over under into onto upon within without toward towards across along around behind beside besides beyond near "
     "per via despite except "
     "am is are was were be been being do does did doing done have has had having will would shall should can could may "
     "might must ought cannot "
     "not no yes all any both each every few more most other others another some such many much several less least own "
     "same either neither none nothing something anything everything someone anyone everyone nobody somebody anybody "
     "everybody "
     "very too just only also even still again once ever never always often already here there now therefore however thus "
     "hence rather quite almost perhaps otherwise "
     "s t d m ll re ve don doesn didn isn aren wasn weren hasn haven hadn won wouldn shouldn couldn mustn ain"},
    {{"ukrainian", "uk", "ukr", nullptr},
     "я мене мені мною ти тебе тобі тобою він його йому ним нього ньому вона її їй нею неї ній воно ми нас нам нами ви вас "
     "вам вами вони їх їм ними них себе собі собою "
     "мій моя моє мої мого моєї моєму моїм моїх моєю твій твоя твоє твої твого твоєї твоєму свій своя своє свої свого своєї "
     "своєму своїм своїх своєю своїми наш наша наше наші нашого нашої нашому нашим наших ваш ваша ваше ваші вашого вашої "
     "вашому вашим ваших їхній їхня їхнє їхні їхнього їхньої їхніх "
     "цей ця це ці цього цієї цьому цим цих цю цією цими той та те ті того тієї тому тим тих ту тією тими такий така таке "
     "такі такого такої такому таким таких таку такою сам сама само самі самого самої самому самим "
     "хто кого кому ким що чого чому чим який яка яке які якого якої якому яким яких яку якою якими чий чия чиє чиї скільки "
     "стільки де куди звідки коли як навіщо хтось щось якийсь якась якесь якісь десь колись ніхто нічого ніщо ніде ніколи "
     "ніякий жоден жодна жодного жодної весь вся все всі всього всієї всьому всім всіх всю всіма увесь усе усі усіх усім "
     "усього кожен кожна кожне кожний кожного кожної інший інша інше інші іншого іншої інших іншим "
     "в у на з із зі зо до від од для без про при по за над під між перед через після крім біля коло серед проти ради заради "
     "замість щодо понад попри поза задля навколо довкола протягом всередині вздовж окрім завдяки згідно "
     "і й та але а або чи бо якщо якби щоб аби хоч хоча отже тож адже проте однак зате немов наче неначе ніби нібито мов "
     "мовби оскільки поки доки ледве тобто також теж зокрема "
     "не ні так хай нехай би б же ж ось от лише лиш тільки навіть саме ще вже аж майже хіба невже ану ну "
     "є бути був була було були буде будуть буду будеш будемо будете будь можна треба слід може можуть могли міг могла могло "
     "мусить має мають мав мала мало мали немає нема "
     "тут там тоді тепер зараз потім завжди часто іноді знову туди сюди звідси звідти дуже більш більше менш менше надто "
     "досить зовсім цілком один одна одне одні одного одної"},
    {{"russian", "ru", "rus", nullptr},
     "я меня мне мной мною ты тебя тебе тобой он его ему им него нему ним нем нём она ее её ей ею нее неё ней оно мы нас нам "
     "нами вы вас вам вами они их ими них ними себя себе собой "
     "мой моя мое моё мои моего моей моему моим моих мою твой твоя твое твоё твои твоего твоей свой своя свое своё свои "
     "своего своей своему своим своих свою своими наш наша наше наши нашего нашей нашему нашим наших нашу ваш ваша ваше ваши "
     "вашего вашей вашему вашим ваших вашу "
     "этот эта это эти этого этой этому этим этих эту этими этом тот та то те того той тому тем тех ту теми том такой такая "
     "такое такие такого таких таким такую сам сама само сами самого самой "
     "кто кого кому кем ком что чего чему чем чём который которая которое которые которого которой которому которым которых "
     "которую которыми котором какой какая какое какие какого каких каким какую чей чья чье чьё чьи сколько столько где куда "
     "откуда когда как почему зачем никто ничего ничто нигде никогда никакой никаких весь вся все всё всего всей всему всем всех всю всеми каждый каждая "
     "каждое каждого каждой другой другая другое другие другого других другим "
     "в во на с со из изо к ко от ото до для без безо о об обо при по за над под между перед через после кроме около среди "
     "против ради вместо насчет насчёт вокруг возле мимо сквозь внутри вне вдоль благодаря согласно "
     "и а но да или либо если бы б чтобы чтоб хотя хоть потому поэтому также тоже однако зато будто словно пока едва ибо "
     "притом причем причём "
     "не ни нет ли ль же ж вот вон лишь только даже именно еще ещё уже аж почти разве неужели пусть ну ведь "
     "есть быть был была было были будет будут буду будешь будем будете будь можно нужно надо нельзя может могут мог могла "
     "могло могли должен должна должно должны "
     "тут там здесь тогда теперь сейчас потом всегда часто иногда снова опять туда сюда отсюда оттуда очень более больше "
     "менее меньше слишком совсем вполне один одна одно одни одного одной так"},
    {{"german", "de", "deu", "ger"},
     "der die das den dem des ein eine einen einem einer eines "
     "ich mich mir mein meine meinen meinem meiner meines du dich dir dein deine deinen deinem deiner deines er ihn ihm sein "
     "seine seinen seinem seiner seines sie ihr ihre ihren ihrem ihrer ihres ihnen es wir uns unser unsere unseren unserem "
     "unserer unseres euch euer eure euren eurem eurer sich man selbst selber "
     "dieser diese dieses diesen diesem jener jene jenes jenen jenem solcher solche solches solchen solchem derselbe dieselbe "
     "dasselbe denselben wer wen wem wessen was welcher welche welches welchen welchem wo wohin woher wann warum weshalb "
     "wieso wie womit wodurch wofür woran worauf "
     "und oder aber denn sondern doch dass daß wenn als ob weil da damit obwohl während bevor nachdem bis seit sobald solange "
     "falls sowie sowohl weder noch entweder "
     "in im ins an am ans auf aus bei beim mit nach von vom vor zu zum zur über unter zwischen neben hinter durch für gegen "
     "ohne um trotz wegen innerhalb außerhalb statt gegenüber ab außer "
     "bin bist ist sind seid war warst waren wart gewesen sei seien wäre wären habe hast hat haben habt hatte hatten hätte "
     "hätten gehabt werde wirst wird werden werdet wurde wurden würde würden worden geworden kann kannst können könnt konnte "
     "konnten könnte könnten muss muß müssen musste mussten müsste soll sollen sollte sollten will wollen wollte wollten darf "
     "dürfen durfte dürfte mag mögen mochte möchte möchten "
     "nicht kein keine keinen keinem keiner keines nichts ja nein alle allen allem aller alles jeder jede jedes jeden jedem "
     "einige einigen einiger einiges etwas viel viele vielen vieler mehr meist wenig wenige weniger manche manchen mancher "
     "andere anderen anderem anderer anderes beide beiden jemand niemand "
     "auch nur schon sehr so dann nun jetzt hier dort immer nie oft wieder mal etwa fast ganz sonst zwar also deshalb daher "
     "dabei dadurch dafür dagegen dazu davon daran darauf daraus darin darüber darum indem einmal hin her"},
    {{"french", "fr", "fra", "fre"},
     "le la les un une des du de au aux "
     "je me moi tu te toi il elle on nous vous ils elles lui leur leurs eux se soi en y mon ma mes ton ta tes son sa ses notre "
     "nos votre vos mien mienne tien tienne sien sienne "
     "ce cet cette ces ceci cela ça celui celle ceux celles ci là qui que quoi dont où lequel laquelle lesquels lesquelles "
     "auquel auxquels duquel desquels quel quelle quels quelles quand comment pourquoi combien quiconque "
     "et ou mais or ni car donc si comme lorsque puisque quoique afin alors ainsi "
     "à dans par pour sur sous avec sans vers chez entre contre depuis pendant avant après devant derrière parmi selon malgré "
     "sauf dès jusque jusqu hors outre envers voici voilà "
     "suis es est sommes êtes sont étais était étions étiez étaient serai seras sera serons serez seront serais serait "
     "seraient sois soit soyons soyez soient fus fut furent fût été étant être ai as a avons avez ont avais avait avions aviez "
     "avaient aurai aura aurons aurez auront aurais aurait auraient aie ait aient eu eut eurent ayant avoir fait faire font "
     "peut peux peuvent pouvait pourrait pouvoir doit dois doivent devait devrait devoir faut fallait veut veulent voulait "
     "ne pas plus point jamais rien aucun aucune personne non oui tout toute tous toutes autre autres même mêmes quelque "
     "quelques plusieurs chaque certain certaine certains certaines tel telle tels telles peu beaucoup trop assez moins très "
     "aussi encore déjà toujours souvent parfois ici bien mal puis ensuite enfin cependant pourtant toutefois seulement "
     "surtout presque environ tant tellement "
     "c d j l m n qu s t aujourd quelqu lorsqu puisqu"},
    {{"spanish", "es", "spa", nullptr},
     "el la los las lo un una unos unas al del "
     "yo me mí mi mis tú te ti tu tus él ella ello usted ustedes nosotros nosotras vosotros vosotras ellos ellas nos os le les "
     "se sí su sus mío mía míos mías tuyo tuya suyo suya suyos suyas nuestro nuestra nuestros nuestras vuestro vuestra "
     "vuestros vuestras conmigo contigo consigo "
     "este esta esto estos estas ese esa eso esos esas aquel aquella aquello aquellos aquellas éste ésta éstos éstas quien "
     "quienes que qué quién quiénes cual cuales cuál cuáles cuyo cuya cuyos cuyas donde dónde cuando cuándo como cómo cuanto "
     "cuánto cuanta cuantos cuantas "
     "y e o u pero mas sino ni si porque pues aunque mientras así luego "
     "a ante bajo con contra de desde durante en entre hacia hasta mediante para por según sin so sobre tras excepto salvo "
     "soy eres es somos sois son era eras éramos eran fui fuiste fue fuimos fueron seré será serán sería serían sea sean fuera "
     "fueran fuese sido siendo ser estoy estás está estamos están estaba estaban estuvo estuvieron estará estarán esté estén "
     "estado estando estar he has ha hemos habéis han había habías habían hubo hubieron habrá habrán habría habrían haya hayan "
     "hubiera hubiese habido habiendo haber hay tengo tienes tiene tenemos tienen tenía tenían tuvo tuvieron tendrá tenga "
     "tener puede pueden podía podían podría podrían poder debe deben debía debería hacer hace hacen hizo "
     "no nunca jamás nada nadie ningún ninguno ninguna tampoco también todo toda todos todas otro otra otros otras mismo "
     "misma mismos mismas algo alguien algún alguno alguna algunos algunas cada varios varias mucho mucha muchos muchas poco "
     "poca pocos pocas tanto tanta tantos tantas más menos muy tan bastante demasiado ya aún todavía siempre aquí ahí allí allá "
     "ahora entonces antes después hoy casi sólo solo además apenas quizá quizás bien mal"},
};
// clang-format on

constexpr const char* kKnown =
    "english (en, eng), ukrainian (uk, ukr), russian (ru, rus), german (de, deu, ger), french (fr, fra, fre), "
    "spanish (es, spa)";

}  // namespace

const char* stopword_languages() noexcept { return kKnown; }

std::vector<std::string_view> list_stopwords(std::string_view language) {
  const std::string name = single_word(language);
  for (const Language& l : kLanguages) {
    if (std::none_of(std::begin(l.names), std::end(l.names), [&](const char* n) { return n != nullptr && name == n; }))
      continue;
    std::vector<std::string_view> out;
    const std::string_view all(l.words);
    for (size_t from = 0; from < all.size();) {
      const size_t to = std::min(all.find(' ', from), all.size());
      out.push_back(all.substr(from, to - from));
      from = to + 1;
    }
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  }
  throw Error(Errc::invalid_argument, "no list of stop words for language \"" + excerpt(language) + "\"",
              std::string("Known are ") + kKnown + ".",
              "Pass an array of your own, or a text search dictionary that knows stop words.");
}

}  // namespace neardup
