/** Removes credentials from a foreign text, so that it can be stored, logged and shown to a tenant. */
export type Hide = (text: string) => string

/** Shorter texts are not hidden: they would match ordinary words in the provider's messages, and reveal little. */
const MIN_MESSAGE_TEXT_LENGTH = 4

/**
 * Replaces the credentials of one call, plain or encoded, by `[redacted]`: the provider repeats parameter values in its error
 * messages ("Parameter [x] value [y] is invalid"). `messageText` is the text of the SMS, if any.
 */
export function hider(credentials: readonly string[], messageText = ''): Hide {
  const words = credentials.filter((word) => word !== '')
  if (messageText.length >= MIN_MESSAGE_TEXT_LENGTH) words.push(messageText)
  const forms = [...new Set(words.flatMap(formsOf))]
  // Longest first: otherwise the rest of a credential that contains another one would remain.
  forms.sort((a, b) => b.length - a.length)
  return (text) => forms.reduce((rest, form) => rest.replaceAll(form, '[redacted]'), text)
}

/** The word plain, in an address, in a form (where a space is `+`) and in JSON. */
const formsOf = (word: string): string[] => [
  word,
  encodeURIComponent(word.toWellFormed()),
  new URLSearchParams([['', word]]).toString().slice(1),
  JSON.stringify(word).slice(1, -1),
]
