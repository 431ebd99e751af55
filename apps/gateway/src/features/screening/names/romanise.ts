/**
 * How letters of other scripts are usually written in Latin ones on passports and sanctions lists. They are coarse on
 * purpose: spellings differ between lists, and the comparison forgives what these tables cannot know.
 */

/** `letter=latin` pairs, separated by spaces; an empty right side drops the letter. */
function pairs(text: string): [letter: string, latin: string][] {
  return text
    .trim()
    .split(/\s+/)
    .map((pair) => {
      const [letter = '', latin = ''] = pair.split('=');
      return [letter, latin];
    });
}

/** `latin:letters` groups: every letter after the colon reads the same. */
function groups(text: string): [letter: string, latin: string][] {
  return text
    .trim()
    .split(/\s+/)
    .flatMap((group) => {
      const [latin = '', letters = ''] = group.split(':');
      return Array.from(letters, (letter): [string, string] => [letter, latin]);
    });
}

const CYRILLIC = `а=a б=b в=v г=g д=d е=e ё=e ж=zh з=z и=i й=y к=k л=l м=m н=n о=o п=p р=r с=s т=t у=u ф=f х=kh ц=ts
ч=ch ш=sh щ=shch ъ= ы=y ь= э=e ю=yu я=ya і=i ї=yi є=ye ґ=g ў=u ј=j љ=lj њ=nj ћ=c ђ=dj џ=dz ѕ=dz ќ=k ѓ=g ә=a ғ=gh қ=q
ң=ng ө=o ұ=u ү=u һ=h ҷ=j ӣ=i ӯ=u ҳ=h`;

const GREEK = `α=a β=v γ=g δ=d ε=e ζ=z η=i θ=th ι=i κ=k λ=l μ=m ν=n ξ=x ο=o π=p ρ=r σ=s ς=s τ=t υ=y φ=f χ=ch ψ=ps ω=o`;

/** Arabic, Persian, Urdu and Kurdish letters; short vowels are not written, so only consonants can be compared. */
const ARABIC = `ا=a أ=a إ=i آ=a ٱ=a ء= ؤ=u ئ=i ب=b ت=t ث=th ج=j ح=h خ=kh د=d ذ=dh ر=r ز=z س=s ش=sh ص=s ض=d ط=t ظ=z
ع=a غ=gh ف=f ق=q ك=k ل=l م=m ن=n ه=h ة=a و=w ي=y ى=a پ=p چ=ch ژ=zh گ=g ک=k ی=y ہ=h ھ=h ے=e ں=n ٹ=t ڈ=d ڑ=r ێ=e ۆ=o`;

const HEBREW = `א=a ב=b ג=g ד=d ה=h ו=v ז=z ח=h ט=t י=y כ=k ך=k ל=l מ=m ם=m נ=n ן=n ס=s ע=a פ=p ף=p צ=ts ץ=ts ק=k ר=r
ש=sh ת=t`;

const KATAKANA = `a:アァ i:イィ u:ウゥ e:エェ o:オォ ka:カ ki:キ ku:ク ke:ケ ko:コ ga:ガ gi:ギ gu:グ ge:ゲ go:ゴ sa:サ shi:シ su:ス se:セ
so:ソ za:ザ ji:ジヂ zu:ズヅ ze:ゼ zo:ゾ ta:タ chi:チ tsu:ツ te:テ to:ト da:ダ de:デ do:ド na:ナ ni:ニ nu:ヌ ne:ネ no:ノ ha:ハ hi:ヒ fu:フ
he:ヘ ho:ホ ba:バ bi:ビ bu:ブ be:ベ bo:ボ pa:パ pi:ピ pu:プ pe:ペ po:ポ ma:マ mi:ミ mu:ム me:メ mo:モ ya:ヤャ yu:ユュ yo:ヨョ ra:ラ ri:リ
ru:ル re:レ ro:ロ wa:ワ o:ヲ n:ン vu:ヴ`;

/** Characters most common in Chinese names, simplified and traditional; one that is missing is compared as itself. */
const HANZI = `a:阿 ai:爱艾愛 an:安 ao:敖傲 ba:巴 bai:白柏百 ban:班 bao:包宝保鲍寶鮑 bei:贝北貝 bi:毕碧必畢 bin:斌彬滨宾賓 bing:冰兵炳丙
bo:波博伯薄 bu:卜布 cai:蔡才财彩財 cao:曹操 cen:岑 chai:柴 chang:常昌长畅長 chao:超朝晁 che:车車 chen:陈晨辰陳臣 cheng:程成诚城承誠 chi:池
chong:崇冲 chu:楚褚初 chuan:川传傳 chun:春纯淳純 cong:丛聪聰 cui:崔翠 da:大达達 dai:戴代 dan:丹单單 dao:道 de:德 deng:邓登鄧 di:迪狄 ding:丁定
dong:董东冬栋東棟 dou:窦竇 du:杜 duan:段端 en:恩 er:尔爾 fa:发法發 fan:范樊凡帆 fang:方芳房 fei:飞费菲飛費 fen:芬 feng:冯峰风凤锋丰馮鳳鋒豐楓枫
fu:付傅福富符甫 gan:甘淦 gang:刚钢剛鋼 gao:高 ge:葛戈 geng:耿庚 gong:龚宫公功龔宮 gu:顾古谷顧 guan:关管冠關 guang:光广廣 gui:桂贵貴 guo:郭国果國
ha:哈 hai:海 han:韩汉寒涵韓漢 hang:航杭 hao:郝浩豪昊皓 he:何贺和赫河荷賀 heng:恒衡 hong:洪红宏鸿虹弘紅鴻 hou:侯 hu:胡虎湖 hua:华花化華 huai:怀懷
huan:欢环歡環 huang:黄黃煌皇 hui:惠辉慧会晖輝會 huo:霍 ji:季吉姬纪继冀记紀繼 jia:贾嘉佳家加甲賈 jian:建健剑简坚見剑劍簡堅 jiang:江蒋姜强蔣 jiao:焦
jie:杰洁捷解潔傑 jin:金近晋锦进津錦進 jing:静京景晶敬靖精荆靜 jiu:久 ju:鞠菊巨 juan:娟 jun:军君俊峻骏軍駿 kai:凯开楷凱開 kang:康 ke:柯可科克 kong:孔
kuang:邝匡鄺 kun:坤昆 lai:赖来賴來 lan:兰蓝岚蘭藍 lang:郎朗 lei:雷磊蕾 leng:冷 li:李黎力丽立利理莉厉礼麗禮 lian:连莲廉連蓮 liang:梁良亮 liao:廖
lin:林琳霖 ling:凌玲灵岭靈 liu:刘柳六劉 long:龙隆龍 lou:娄婁 lu:陆卢鲁路露禄陸盧魯 lv:吕呂 luan:栾 lun:伦倫 luo:罗骆洛羅駱 ma:马麻馬 mai:麦麥
mao:毛茂 mei:梅美 meng:孟蒙梦夢 mi:米 miao:苗妙 min:敏民闵閔 ming:明铭名銘 mo:莫墨 mu:穆木慕 na:娜 nan:南楠 ni:倪尼妮 nian:年念 nie:聂聶 ning:宁寧
niu:牛 ou:欧歐 pan:潘盘 pang:庞龐 pei:裴培佩沛 peng:彭鹏朋鵬 pi:皮 ping:平萍苹屏 pu:蒲普朴 qi:齐祁琦启奇其齊啟 qian:钱乾千倩錢 qiang:强強 qiao:乔巧喬
qin:秦琴勤钦覃 qing:青庆清卿慶 qiong:琼瓊 qiu:邱秋丘裘 qu:曲屈瞿渠 quan:权全泉權 ran:冉然 ren:任仁人 rong:荣容戎融榮蓉 rou:柔 ru:茹汝儒 ruan:阮 rui:瑞睿锐銳
san:三 sha:沙莎 shan:单山珊善 shang:尚商上 shao:邵少绍紹 shen:沈申深慎 sheng:盛胜生圣升勝聖 shi:石史施时诗世士师時詩師 shou:寿守壽 shu:舒书淑树書樹 shuai:帅帥
shuang:双爽雙 shui:水 shun:顺舜順 si:司思四斯 song:宋松 su:苏素蘇 sui:隋随 sun:孙孫 tai:台太泰 tan:谭谈檀譚談 tang:唐汤棠湯 tao:陶涛桃濤 teng:滕腾騰
tian:田天 tie:铁鐵 ting:婷廷庭亭 tong:童佟通同彤 tu:涂屠 wan:万婉晚萬 wang:王汪旺望 wei:魏韦卫伟维威薇巍微韋衛偉維 wen:温文闻溫聞雯 weng:翁 wu:吴武伍邬乌五吳鄔
xi:习奚西喜希熙曦習席 xia:夏霞侠俠 xian:冼贤先显賢顯 xiang:向项祥香翔湘項 xiao:肖萧晓小孝笑蕭曉 xie:谢解谢谐謝 xin:辛新心欣鑫信 xing:邢星兴行興 xiong:熊雄 xiu:秀修
xu:徐许旭续許續 xuan:宣轩玄萱軒 xue:薛雪学學 xun:荀迅勋勳 ya:雅亚亞 yan:严颜闫阎燕岩艳彦言晏嚴顏閻艷 yang:杨阳洋羊扬楊陽揚 yao:姚瑶尧瑤堯 ye:叶业野葉業
yi:易伊怡毅义艺一益仪義藝儀 yin:尹殷银音银銀 ying:应英颖莹营迎影應穎瑩 yong:勇永雍 you:尤游友有 yu:于余俞虞喻宇玉雨郁裕育余魚鱼語语 yuan:袁元源远媛原遠 yue:岳月越悦悅
yun:云芸运允雲運 zai:在 zan:赞贊 zang:臧 ze:泽則则澤 zeng:曾增 zha:查 zhai:翟 zhan:詹湛展战戰 zhang:张章璋彰張 zhao:赵昭兆趙 zhe:哲者 zhen:甄真振珍震镇貞贞鎮
zheng:郑正政征铮鄭 zhi:志智之芝治致知 zhong:钟仲忠中鐘鍾 zhou:周舟洲 zhu:朱祝竹珠柱诸諸 zhuang:庄壮莊壯 zhuo:卓 zi:子紫自 zong:宗 zou:邹鄒 zu:祖 zuo:左佐`;

export const LETTERS: ReadonlyMap<string, string> = new Map([
  ...pairs(CYRILLIC),
  ...pairs(GREEK),
  ...groups(KATAKANA),
]);

/** Kept apart: words of these letters lack their vowels. */
export const VOWELLESS_LETTERS: ReadonlyMap<string, string> = new Map([...pairs(ARABIC), ...pairs(HEBREW)]);

/** Kept apart: every character is a syllable of its own. */
export const HANZI_SYLLABLES: ReadonlyMap<string, string> = new Map(groups(HANZI));

/** Latin letters that do not come apart into a base letter and a mark. */
export const LATIN_LETTERS: ReadonlyMap<string, string> = new Map(
  pairs('ß=ss ø=o ł=l đ=d ð=d þ=th æ=ae œ=oe ı=i ħ=h ŋ=ng ĸ=k ə=a'),
);

const HANGUL_FIRST = 0xac00;
const HANGUL_LAST = 0xd7a3;
const HANGUL_VOWELS = 21;
const HANGUL_FINALS = 28;
const INITIALS = 'g kk n d tt r m b pp s ss - j jj ch k t p h'
  .split(' ')
  .map((part) => part.replace('-', ''));
const VOWELS = 'a ae ya yae eo e yeo ye o wa wae oe yo u wo we wi yu eu ui i'.split(' ');
const FINALS = '- k k k n n n t l k m l l l p l m p p t t ng t t k t p t'
  .split(' ')
  .map((part) => part.replace('-', ''));

const HIRAGANA = /[\u3041-\u3096]/u;
const HIRAGANA_TO_KATAKANA = 0x60;
const HAN = /\p{Script=Han}/u;
// Marks that make ga of ka in Japanese are letters in all but name.
const MARKS = /(?![\u3099\u309A])\p{M}/gu;

/** A word in Latin letters, or as near to it as the tables come. */
export interface RomanText {
  readonly text: string;
  /** The word was written without its short vowels, so only its consonants mean something. */
  readonly vowelless: boolean;
}

/** Lower-case Latin letters and digits for a word of any script; Chinese syllables and Korean ones are set apart. */
export function romanise(word: string): RomanText {
  const plain = word.normalize('NFKC').toLowerCase().normalize('NFKD').replace(MARKS, '').normalize('NFC');
  let text = '';
  let vowelless = false;
  for (const character of plain) {
    const consonant = VOWELLESS_LETTERS.get(character);
    if (consonant !== undefined) vowelless = true;
    // Two consonants that meet for want of a vowel must not read as a digraph: z and h are not zh.
    if (consonant?.startsWith('h') && /[cdgkpstz]$/.test(text)) text += 'a';
    text += consonant ?? LATIN_LETTERS.get(character) ?? romaniseCharacter(character);
  }
  return { text, vowelless };
}

function romaniseCharacter(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x80) return character;
  if (code >= HANGUL_FIRST && code <= HANGUL_LAST) return ` ${romaniseHangul(code - HANGUL_FIRST)} `;
  const kana = HIRAGANA.test(character) ? String.fromCodePoint(code + HIRAGANA_TO_KATAKANA) : character;
  const letter = LETTERS.get(kana);
  if (letter !== undefined) return letter;
  const syllable = HANZI_SYLLABLES.get(character);
  if (syllable !== undefined) return ` ${syllable} `;
  return HAN.test(character) ? ` ${character} ` : character;
}

function romaniseHangul(index: number): string {
  const initial = INITIALS[Math.floor(index / (HANGUL_VOWELS * HANGUL_FINALS))] ?? '';
  const vowel = VOWELS[Math.floor(index / HANGUL_FINALS) % HANGUL_VOWELS] ?? '';
  return initial + vowel + (FINALS[index % HANGUL_FINALS] ?? '');
}
