export const EXTENSIONS = 100
export const NUMBERS_PER_EXTENSION = 10
/** The benches of sending spread their messages over 1,000 numbers, as production does. */
export const THOUSAND_NUMBERS = { extensions: EXTENSIONS, numbersPerExtension: NUMBERS_PER_EXTENSION } as const

/** Number `at` of extension `extension`. Both count from 0. */
export const ownNumber = (extension: number, at: number): string => `+1555${5_550_000 + extension * 100 + at}`

/** The `from` of message `n`. Each message uses the next extension, and each round the next number of an extension. */
export const fromOf = (n: number): string =>
  ownNumber(n % EXTENSIONS, Math.floor(n / EXTENSIONS) % NUMBERS_PER_EXTENSION)

/** The `to` of message `n`. The first ten million recipients are distinct, as in production. */
export const toOf = (n: number): string => `+1556${String((n * 7_919_317) % 10_000_000).padStart(7, '0')}`
