import type { CallOptions, World } from './world.ts'

/** A picture of one pixel. */
export const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

/** A PNG, by its first bytes, of this size. The rest depends on `seed`. */
export function pngOf(bytes: number, seed = 0): Buffer {
  const picture = Buffer.alloc(bytes, seed + 1)
  PNG.copy(picture)
  return picture
}

export interface UploadedMedia {
  mediaId: string
  contentType: string
  size: number
  fileName: string | null
  expiresAt: string
}

/** Uploads a file as an app does. */
export function upload(
  world: World,
  bytes: Uint8Array | ReadableStream<Uint8Array> | string,
  { type = 'image/png', name, key = world.key }: { type?: string; name?: string; key?: string } = {},
): Promise<Response> {
  const query = name === undefined ? '' : `?fileName=${encodeURIComponent(name)}`
  return fetch(`${world.url}/v1/sms/media${query}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': type },
    body: bytes,
  })
}

export async function uploaded(...args: Parameters<typeof upload>): Promise<UploadedMedia> {
  const answer = await upload(...args)
  if (!answer.ok) throw new Error(`the upload answered ${answer.status}: ${await answer.text()}`)
  return (await answer.json()) as UploadedMedia
}

/** What the database has of media: rows, pieces and their bytes. */
export async function storedBytes({ gateway }: World): Promise<{ media: number; pieces: number; bytes: number }> {
  const { rows } = await gateway.database.gate.execute(
    `SELECT (SELECT count(*) FROM media) AS media, count(*) AS pieces, coalesce(sum(length(bytes)), 0) AS bytes FROM media_pieces`,
  )
  return { media: Number(rows[0]?.['media']), pieces: Number(rows[0]?.['pieces']), bytes: Number(rows[0]?.['bytes']) }
}

export const media = (world: World, mediaId: string, options?: CallOptions): Promise<Response> =>
  world.call('GET', `/v1/sms/media/${mediaId}`, options)

/** Sends a message with a picture, and returns its id. */
export async function sendMedia(
  world: World,
  message: { from: string; to: string; body?: string; sendAt?: string },
  picture: Uint8Array = PNG,
): Promise<string> {
  const { mediaId } = await uploaded(world, picture, { name: 'photo.png' })
  const sent = await world.json<{ messageId: string }>('POST', '/v1/sms/send', {
    body: { ...message, mediaIds: [mediaId] },
  })
  if (sent.status !== 202) throw new Error(`send answered ${sent.status}: ${JSON.stringify(sent.body)}`)
  return sent.body.messageId
}
