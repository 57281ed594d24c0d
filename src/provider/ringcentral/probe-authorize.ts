import { shortText } from '../../net/http/bounded-text.ts'
import type { ProviderResult } from '../provider.ts'
import { errorCode } from './fetch-transport.ts'
import { networkFailure, statusFailure } from './errors.ts'

const TIMEOUT_MS = 5000

/** With `prompt=none` (OpenID Connect Core 3.1.2.1) the answer is never a page, but a redirect or an error with its cause. */
export async function probeAuthorize(authorizeUrl: string, throughProxy: boolean): Promise<ProviderResult<void>> {
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  const response = await fetch(`${authorizeUrl}&prompt=none`, {
    redirect: 'manual',
    signal,
    ...(throughProxy ? {} : { proxy: false }),
  }).catch((error: unknown) => errorCode(error))
  if (typeof response === 'string') return { ok: false, failure: networkFailure(response, true) }
  if (response.status < 400) return { ok: true, value: undefined }
  const answer = {
    status: response.status,
    body: await shortText(response),
    bodyError: null,
    date: null,
    requestId: response.headers.get('rcrequestid'),
    retryAfterMs: null,
  }
  return { ok: false, failure: statusFailure(answer, 'oauth', (text) => text) }
}
