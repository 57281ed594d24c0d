import { expect, test } from 'bun:test'
import { eventually } from '../../bench/torture/program.ts'
import { TortureStage } from '../../bench/torture/stage.ts'
import { pngOf } from '../support/media.ts'
import { type UploadFate, type UploadProxy, startUploadProxy } from '../support/upload-proxy.ts'
import { TO } from '../support/world.ts'

const PICTURE = pngOf(200_000)
const TIMEOUT_MS = 90_000

/** The requests that the provider has read completely. */
const CASES: [name: string, fate: UploadFate, requests: number][] = [
  ['in the middle of its files', 'half', 1],
  ['when the provider has all of it', 'unanswered', 1],
]

test.concurrent.each(CASES)(
  'a gateway that is killed while it sends a picture, %s, sends it once',
  async (_name, fate, requests) => {
    const started = Promise.withResolvers<UploadProxy>()
    await using stage = await TortureStage.open({
      extensions: 1,
      between: async (url) => {
        const proxy = await startUploadProxy(url)
        started.resolve(proxy)
        return proxy.url
      },
    })
    await using proxy = await started.promise
    const { control, gateway, numbers } = stage
    proxy.fate = fate
    const messageId = await sendPicture(stage, numbers[0] ?? '')
    await proxy.happened
    await gateway.kill()
    expect(await control.messages({ direction: 'Outbound' })).toHaveLength(fate === 'half' ? 0 : 1)
    await gateway.start()
    await eventually('The end of the message', 60_000, async () => {
      const answer = await stage.call('GET', `/v1/sms/status/${messageId}`)
      return ((await answer.json()) as { status: string }).status === 'sent' ? true : null
    })
    const [record, ...others] = await control.messages({ direction: 'Outbound' })
    expect(others).toEqual([])
    expect(record).toMatchObject({ text: 'Look', attachments: [{ contentType: 'image/png', size: PICTURE.length }] })
    expect((await control.counters()).requests['sms']).toBe(requests)
  },
  TIMEOUT_MS,
)

async function sendPicture(stage: TortureStage, from: string): Promise<string> {
  const upload = await fetch(`${stage.gateway.url}/v1/sms/media`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stage.key}`, 'content-type': 'image/png' },
    body: PICTURE,
  })
  const { mediaId } = (await upload.json()) as { mediaId: string }
  const sent = await stage.call('POST', '/v1/sms/send', { from, to: TO, body: 'Look', mediaIds: [mediaId] })
  return ((await sent.json()) as { messageId: string }).messageId
}
