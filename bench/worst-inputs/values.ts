import { filledWith, listed } from './input.ts'

/** Texts that a check may read slowly: long, of blanks, and such as a regular expression goes back in. */
export const TEXTS: Readonly<Record<string, string>> = {
  letters: 'a',
  blanks: ' ',
  'line breaks': '\n',
  digits: '1',
  pluses: '+',
  slashes: '/',
  commas: ',',
  semicolons: ';',
  dots: '.',
  'spaces and letters': ' a',
  'numbers with commas': '+15555550100,',
  'zero-width spaces': '\u200b',
  'combining marks': '\u0301',
  emoji: '🎉',
  'joined emoji': '👩‍',
  flags: '🇩🇪',
  'lone surrogates': '\\ud800',
  'escaped letters': '\\u0041',
  'control characters': '\\u0001',
  placeholders: '{{a}}',
  'paths of events': '/message-store/instant?',
  'paths of extensions': '/extension/11111111111111111111111111111111',
}

/** JSON values of about `bytes`, as text. */
export const jsonValues = (bytes: number): Record<string, string> => ({
  ...Object.fromEntries(Object.entries(TEXTS).map(([name, text]) => [name, jsonText(text, bytes)])),
  'paths of events and a line break': `"${filledWith('/message-store/instant?', bytes - 10)}\\n"`,
  'blanks and a letter': `"${filledWith(' ', bytes - 10)}a"`,
  numbers: `[${listed(() => '1', bytes)}]`,
  'numbers with digits': `[${listed(() => '1.0', bytes)}]`,
  'empty lists': `[${listed(() => '[]', bytes)}]`,
  'empty objects': `[${listed(() => '{}', bytes)}]`,
  'empty texts': `[${listed(() => '""', bytes)}]`,
  names: `{${listed((n) => `"${n.toString(36)}x":1`, bytes)}}`,
  'numbers as names': `{${listed((n) => `"${n * 400_000}":1`, bytes)}}`,
  'names of two bytes': `{${listed((n) => `"\u0142${n.toString(36)}":1`, bytes)}}`,
  'objects of another name each': `[${listed((n) => `{"${n.toString(36)}x":1}`, bytes)}]`,
  'objects of a number as name': `[${listed((n) => `{"${n * 400_000}":1}`, bytes)}]`,
  'one name again and again': `{${listed(() => '"a":1', bytes)}}`,
  'nested lists': `[${listed(() => `${'['.repeat(28)}${']'.repeat(28)}`, bytes)}]`,
  'nested objects': `[${listed(() => `${'{"a":'.repeat(28)}1${'}'.repeat(28)}`, bytes)}]`,
  'parties without a number': `[${listed((n) => `{"name":"${n}"}`, bytes)}]`,
  attachments: `[${listed((n) => `{"id":"${n}","contentType":"image/jpeg","uri":"u"}`, bytes)}]`,
  'attachments without an id': `[${listed(() => '{"contentType":"a/b"}', bytes)}]`,
})

/** A text in JSON; control characters and blanks are left unchanged. */
const jsonText = (text: string, bytes: number): string => `"${filledWith(text === '\n' ? '\\n' : text, bytes - 2)}"`
