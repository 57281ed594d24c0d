import type { ExtensionHealth } from '../../../client/client.ts'

/** One of the tenant's numbers and one contact. */
export interface Pair {
  number: string
  contact: string
}

/** Whether a text can be sent there. */
export const isNumber = (value: string): boolean => /^\+[1-9]\d{8,14}$/.test(value)

/** Whether a text can have come from there: from a number, a short code or a sender's name. Anything else is not remembered. */
export const isContact = (value: string): boolean => /^\P{C}{1,64}$/u.test(value)

/** Those of the numbers that no working extension has, so that no text can be sent from them; none while that is not known. */
export function cannotSendOf(
  numbers: readonly string[],
  extensions: readonly Pick<ExtensionHealth, 'status' | 'phoneNumbers'>[] | undefined,
): string[] {
  const working = extensions?.filter(({ status }) => status === 'active').flatMap(({ phoneNumbers }) => phoneNumbers)
  return working === undefined ? [] : numbers.filter((number) => !working.includes(number))
}
