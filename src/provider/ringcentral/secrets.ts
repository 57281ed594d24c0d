/** Rewrites a text that came from outside so that it may be stored, logged and shown to a tenant. */
export type Hide = (text: string) => string

/** Short texts would blot out ordinary words of the provider's messages; a message of three characters gives little away. */
const MIN_MESSAGE_TEXT_LENGTH = 4

/**
 * Replaces the credentials of one call, plain or as they stood on the wire, by `[redacted]`: the provider repeats parameter
 * values in its error messages ("Parameter [x] value [y] is invalid"). `messageText` is an SMS's text, if any.
 */
export function hider(credentials: readonly string[], messageText = ''): Hide {
  const words = credentials.filter((word) => word !== '')
  if (messageText.length >= MIN_MESSAGE_TEXT_LENGTH) words.push(messageText)
  const forms = [...new Set(words.flatMap(formsOf))]
  // The longest first: a credential that contains another one must not leave its remainder behind.
  forms.sort((a, b) => b.length - a.length)
  return (text) => forms.reduce((rest, form) => rest.replaceAll(form, '[redacted]'), text)
}

/** Plain, in an address, in a form (a space is `+` there) and in JSON. */
const formsOf = (word: string): string[] => [
  word,
  encodeURIComponent(word.toWellFormed()),
  new URLSearchParams([['', word]]).toString().slice(1),
  JSON.stringify(word).slice(1, -1),
]
