import { expect, setDefaultTimeout, test } from 'bun:test'
import { sgwIn, startSgw } from '../support/cli.ts'
import { openOperatorSocket } from '../support/operator.ts'
import { startReceiver } from '../support/receiver.ts'
import { createWorld } from '../support/world.ts'

// Each test starts several processes, and all run at once.
setDefaultTimeout(60_000)

const PRODUCTION = {
  NODE_ENV: 'production',
  PUBLIC_URL: 'https://sms.example.com',
  ENCRYPTION_KEYS: Buffer.from('0123456789abcdef0123456789abcdef').toString('base64'),
  RC_CLIENT_ID: 'client',
  RC_CLIENT_SECRET: 'of-the-client',
}

test.concurrent('in production, listen forwards to http:// on this machine', async () => {
  await using receiver = startReceiver()
  await using world = await createWorld()
  const operator = openOperatorSocket(world)
  for (const [index, host] of ['127.0.0.1', 'localhost'].entries()) {
    const url = receiver.url.replace(/localhost|127\.0\.0\.1/, host)
    await using listener = startSgw(world.folder, ['listen', '--forward-to', url], PRODUCTION)
    await listener.printed(/Ready: /)
    await world.control.injectSms({ text: host })
    expect((await receiver.received(index + 1)).at(-1)?.body).toMatchObject({ body: host })
  }
  await operator.stop()
})

test.concurrent('what listen does not forward to is refused with the condition that is not met', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const refused = async (url: string, env: Record<string, string> = {}): Promise<string> => {
    const { code, stdout, stderr } = await sgwIn(world.folder, ['listen', '--forward-to', url], {
      ...PRODUCTION,
      ...env,
    })
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toStartWith(`Cannot forward to ${url}: `)
    return stderr.slice(`Cannot forward to ${url}: `.length).trimEnd()
  }
  const plain = 'in production http:// goes only to this machine, such as http://127.0.0.1:8080/webhook'
  const inside = 'it is not a public address: list it in WEBHOOK_ALLOW_CIDRS'
  const metadata = 'sgw never posts to link-local and metadata addresses'
  const [http, listed, ofNetwork, cloud, linkLocal, mapped, unspecified, nonsense, ofName, port] = await Promise.all([
    refused('http://hooks.example.com/sms'),
    refused('http://10.1.2.3/sms', { WEBHOOK_ALLOW_CIDRS: '10.0.0.0/8' }),
    refused('https://10.1.2.3/sms'),
    refused('http://169.254.169.254/latest'),
    refused('https://[fe80::1]/'),
    refused('http://[::ffff:169.254.169.254]/'),
    refused('http://0.0.0.0:8080/'),
    refused('localhost:8080'),
    refused('https://hooks.internal/'),
    refused('https://127.0.0.1.example.com:25/'),
  ])
  expect([http, listed]).toEqual([plain, plain])
  const atHome = { PUBLIC_URL: '', ENCRYPTION_KEYS: '', WEBHOOK_ALLOW_CIDRS: '10.0.0.0/8' }
  expect(await refused('http://192.168.1.9/sms', atHome)).toBe(`${plain}, and to addresses in WEBHOOK_ALLOW_CIDRS`)
  expect(ofNetwork).toBe(inside)
  expect([cloud, linkLocal, mapped, unspecified]).toEqual([metadata, metadata, metadata, metadata])
  const publicName = 'in production its name is public, and its port is 80, 443 or above 1023'
  expect([ofName, port]).toEqual([publicName, publicName])
  expect(nonsense).toContain('such as http://localhost:8080/webhook')
})

test.concurrent('in development, a metadata address is refused with the same words', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const words = ['listen', '--forward-to', 'http://169.254.169.254/']
  expect(await sgwIn(world.folder, words)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('sgw never posts to link-local and metadata addresses'),
  })
})
