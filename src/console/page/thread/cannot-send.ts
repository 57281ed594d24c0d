import type { ExtensionHealth } from '../../../client/client.ts'

/** Those of the numbers that no working extension has, so that no text can be sent from them; none while that is not known. */
export function cannotSendOf(
  numbers: readonly string[],
  extensions: readonly Pick<ExtensionHealth, 'status' | 'phoneNumbers'>[] | undefined,
): string[] {
  const working = extensions?.filter(({ status }) => status === 'active').flatMap(({ phoneNumbers }) => phoneNumbers)
  return working === undefined ? [] : numbers.filter((number) => !working.includes(number))
}
