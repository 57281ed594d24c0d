import { z } from 'zod'
import type { ErrorName } from '../../core/errors.ts'
import { MAX_APP_NAME_LENGTH } from '../../core/limits.ts'

/**
 * Control and format characters and line separators. They act on a terminal, or are invisible, so that two names look the same. Persian needs
 * U+200C in a word, and emoji need U+200D.
 */
const REFUSED = /(?![\u200C\u200D])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u

/** A visible character: not a space, a filler, or one that only changes another. U+2800 is an empty Braille cell. */
const VISIBLE = /[^\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u

const isName = (text: string): boolean => !REFUSED.test(text) && VISIBLE.test(text) && text.isWellFormed()

/** The same for the OpenAPI document, up to U+FFFF: other languages know no `\p`, or write other characters differently. */
const REFUSED_RANGES = String.raw`\u0000-\u001F\u007F-\u009F\u00AD\u0600-\u0605\u061C\u06DD\u070F\u0890\u0891\u08E2\u180E\u200B\u200E\u200F\u2028-\u202E\u2060-\u2064\u2066-\u206F\uFEFF\uFFF9-\uFFFB`
const INVISIBLE_RANGES = String.raw` \u00A0\u034F\u115F\u1160\u1680\u17B4\u17B5\u180B-\u180F\u2000-\u200F\u202F\u205F\u2065\u2800\u3000\u3164\uFE00-\uFE0F\uFFA0\uFFF0-\uFFF8`
const PATTERN = `^[^${REFUSED_RANGES}]*[^${REFUSED_RANGES}${INVISIBLE_RANGES}][^${REFUSED_RANGES}]*$`

const BAD: { error: ErrorName } = { error: 'badName' }

/** The name of an app or a tenant. */
export const name = z
  .string(BAD)
  .transform((text) => text.trim())
  .pipe(z.string().min(1, BAD).max(MAX_APP_NAME_LENGTH, BAD).refine(isName, BAD))
  .meta({
    description:
      'Spaces around it are removed. It has a visible character, no control characters, and no format characters (Unicode category Cf) but U+200C and U+200D',
    minLength: 1,
    maxLength: MAX_APP_NAME_LENGTH,
    pattern: PATTERN,
    example: 'Shop',
  })
