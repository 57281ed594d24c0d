export const EXTENSIONS = 100
export const NUMBERS_PER_EXTENSION = 10
/** The benches of sending spread their messages over 1,000 numbers, as production does. */
export const THOUSAND_NUMBERS = { extensions: EXTENSIONS, numbersPerExtension: NUMBERS_PER_EXTENSION } as const

/** Number `at` of extension `extension`, both from 0. */
export const ownNumber = (extension: number, at: number): string => `+1555${5_550_000 + extension * 100 + at}`

/** The `from` of message `n`: each message comes from the next extension, and each round from its next number. */
export const fromOf = (n: number): string =>
  ownNumber(n % EXTENSIONS, Math.floor(n / EXTENSIONS) % NUMBERS_PER_EXTENSION)

/** The `to` of message `n`: ten million people in no order. */
export const toOf = (n: number): string => `+1556${String((n * 7_919_317) % 10_000_000).padStart(7, '0')}`
