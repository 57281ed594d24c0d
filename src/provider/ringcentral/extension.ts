import { z } from 'zod'
import type { ProviderExtension, ProviderResult } from '../provider.ts'
import type { Call, Requester } from './request.ts'
import { optionalText, storableText, wireId } from './wire-text.ts'

/** `GET /account/~/extension/~`: `~` stands for the owner of the token. */
export async function getExtension(
  requester: Requester,
  accessToken: string,
): Promise<ProviderResult<ProviderExtension>> {
  const call: Call = { method: 'GET', path: EXTENSION_PATH, as: { accessToken } }
  return requester.read(call, extensionSchema)
}

export const EXTENSION_PATH = '/restapi/v1.0/account/~/extension/~'

const MAX_NAME_LENGTH = 200

/** `GetExtensionInfoResponse`, in which `id` is a number and `account.id` a string. */
const extensionSchema = z
  .looseObject({
    id: wireId,
    account: z.looseObject({ id: wireId }),
    name: optionalText,
    extensionNumber: optionalText,
  })
  .transform((extension): ProviderExtension => ({
    extensionId: extension.id,
    accountId: extension.account.id,
    name: textOrNull(extension.name),
    extensionNumber: textOrNull(extension.extensionNumber),
  }))

function textOrNull(text: string | null | undefined): string | null {
  const trimmed = text?.trim() ?? ''
  return trimmed === '' ? null : storableText(trimmed, MAX_NAME_LENGTH)
}
