import type { ExtensionHealth } from '../../../client/client.ts'

/** The numbers that no working extension has, so that no text can be sent from them. */
export function cannotSendOf(
  numbers: readonly string[],
  extensions: readonly Pick<ExtensionHealth, 'status' | 'phoneNumbers'>[],
): string[] {
  const working = extensions.filter(({ status }) => status === 'active').flatMap(({ phoneNumbers }) => phoneNumbers)
  return numbers.filter((number) => !working.includes(number))
}
