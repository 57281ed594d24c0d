/** How contacts, phones and keyboards write a keyword: each of these makes forms of a word that still count as that word. */
const FORMS: readonly ((word: string) => string | string[])[] = [
  (word) => [word, word.toLowerCase(), word[0] + word.slice(1).toLowerCase()],
  (word) => around(word, QUOTES),
  (word) => around(word, BRACKETS),
  (word) => ENDINGS.map((ending) => word + ending),
  (word) => BEGINNINGS.map((beginning) => beginning + word),
  (word) => EMOJI.flatMap((emoji) => [word + emoji, `${emoji} ${word}`, `${emoji}${word} ${emoji}${emoji}`]),
  (word) => INVISIBLE.flatMap((unseen) => [word + unseen, unseen + word, inside(word, unseen)]),
  (word) => BLANKS.flatMap((blank) => [word + blank, blank + blank + word, word.replace(' ', blank + blank)]),
  (word) => fullWidth(word),
  (word) => [styled(word, 0x1d400), styled(word, 0x1d670), circled(word)],
  (word) => word.normalize('NFD'),
]

const QUOTES = ['""', "''", '“”', '‘’', '«»', '„“', '‹›', '「」', '``', '´´', '‚‘', '＂＂']
const BRACKETS = ['()', '[]', '{}', '<>', '**', '__', '~~', '==', '||', '（）', '【】', '〈〉', '*_~']
const ENDINGS = [
  '.',
  '!',
  '?',
  '!!!',
  '…',
  '...',
  ',',
  ';',
  ':',
  ' !',
  ' -',
  ' —',
  '。',
  '！',
  ' :)',
  ' ;-)',
  '™',
  '®',
  '$',
  '^',
  ' ¨',
  '/',
  '\\',
]
const BEGINNINGS = ['.', '¡', '- ', '• ', '#', '@', '>', '>> ', '+', '…', '* ', '➡️ ', '=', '¿']
const EMOJI = ['🛑', '⛔️', '👍🏽', '👨‍👩‍👧‍👦', '🇺🇸', '❤️', '1️⃣', '#️⃣', 'Ⓜ️', 'ℹ️', '☠', '🏴󠁧󠁢󠁳󠁣󠁴󠁿', '㊙️', '🈁']
const INVISIBLE = Array.from(
  '\u200B\u200C\u200D\u200E\u200F\u202A\u202C\u2060\u2066\u2068\u2069\u00AD\u034F\u061C\u115F\u180E\u3164\uFE0E\uFE0F\uFEFF\uFFA0\uFFF9\u0001\u001B\u007F\u009F\u{E0001}\u{E0020}\u{E0100}',
)
const BLANKS = [
  ' ',
  '  ',
  '\n',
  '\r\n',
  '\t',
  '\v',
  '\f',
  '\u0085',
  '\u00A0',
  '\u1680',
  '\u2003',
  '\u2007',
  '\u2009',
  '\u2028',
  '\u2029',
  '\u202F',
  '\u205F',
  '\u2800',
  '\u3000',
  ' \n \u00A0',
]

const around = (word: string, pairs: string[]): string[] =>
  pairs.flatMap((pair) => {
    const [left, right] = [pair.slice(0, pair.length / 2), pair.slice(Math.floor(pair.length / 2))]
    return [left + word + right, `${left} ${word}. ${right}`]
  })

const inside = (word: string, what: string): string => Array.from(word).join(what)

const fullWidth = (word: string): string =>
  word.replaceAll(/[A-Z-]/g, (letter) => String.fromCodePoint(letter.charCodeAt(0) + 0xfee0)).replaceAll(' ', '\u3000')

/** Letters of a mathematical alphabet that begins at `first`. */
const styled = (word: string, first: number): string =>
  word.replaceAll(/[A-Z]/g, (letter) => String.fromCodePoint(letter.charCodeAt(0) - 65 + first))

const circled = (word: string): string => styled(word, 0x24b6)

/** All forms of a keyword, each once. */
export const formsOf = (word: string): string[] => [...new Set(FORMS.flatMap((form) => form(word)))]

export const OPT_OUT_WORDS = 'STOP|STOPALL|UNSUBSCRIBE|END|QUIT|CANCEL|REVOKE|OPTOUT|OPT OUT|OPT-OUT|ARRET|ARRÊT'.split(
  '|',
)
export const OPT_IN_WORDS = 'START|UNSTOP|OPTIN|OPT IN|OPT-IN|SUBSCRIBE|RESUME|CONTINUE'.split('|')

/** Texts that contain a keyword, or nearly one, and must not count. */
export const NO_KEYWORDS = [
  ..."please stop by at 5|stop it|don’t stop|don't stop|unsubscribe me please|STOP STOP|STOP START|STOPSTART|STOPP|SSTOP".split(
    '|',
  ),
  ...'ST OP|S T O P|S.T.O.P|S-T-O-P|OPT_OUT|OPT.OUT|OPT/OUT|OPT - OUT|OPTOUTS|OPT OUT NOW|STOP ALL|STOP-ALL|UN-SUBSCRIBE'.split(
    '|',
  ),
  ...'the end|ending|END.OF.FILE|quit smoking|cancel my order|Can you cancel?|not cancelled|I quit!|revoked|arrête|arrêté'.split(
    '|',
  ),
  ...'start at 5|restart|Let’s start|STARTS|resume attached|my résumé|RÉSUMÉ|résumé|subscribed|continued|to be continued…'.split(
    '|',
  ),
  ...'STOP\nSent from my phone|STOP 2|2 STOP|STOP2|STOP²|STOP 🛑 now|ST🛑OP|ST™OP|ST"OP|S*T*O*P|STOP\u0301|S\u0338T\u0338O\u0338P\u0338'.split(
    '|',
  ),
  ...'СТОП|ЅТОР|停止|קץ|ΣΤΟΠ|DETENER|ALTO|YES|NO|HELP|INFO|OK|0|1|X|!|🛑|"|()|…|__proto__|constructor|toString'.split(
    '|',
  ),
  ...'Non-stop|nonstop|stop.example.com|#stopline|@stopper|bus stop|full stop.|STOP?!? no wait|end-to-end|OPT\u00ADIN\u00ADG'.split(
    '|',
  ),
  '',
  ' ',
  '\n\t',
  '\u200B',
  'STOP\u0000STOP',
  '!'.repeat(1600),
  'a'.repeat(1600),
  `STOP ${'a'.repeat(1590)}`,
  'stop '.repeat(300),
]
