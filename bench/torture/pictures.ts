import type { TortureStage } from './stage.ts'

/** One message of so many carries a picture. */
const ONE_IN = 5
const LEAST_BYTES = 30_000
const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex')

/** The size of the picture that this message carries, which tells it from most others; null if it carries none. */
export const pictureBytesOf = (number: number): number | null =>
  number % ONE_IN === ONE_IN - 1 ? LEAST_BYTES + (number % 1000) : null

/** Uploads a picture of this size. Returns its id, or the status of the answer that refuses it. */
export async function uploadPicture(stage: TortureStage, bytes: number): Promise<string | number> {
  const picture = Buffer.alloc(bytes)
  SIGNATURE.copy(picture)
  const response = await fetch(`${stage.gateway.url}/v1/sms/media?fileName=picture.png`, {
    method: 'POST',
    keepalive: false,
    signal: AbortSignal.timeout(15_000),
    headers: { authorization: `Bearer ${stage.key}`, 'content-type': 'image/png' },
    body: picture,
  })
  return response.ok ? ((await response.json()) as { mediaId: string }).mediaId : response.status
}
