import { expect, test } from 'bun:test'
import { withServer } from '../support/cli-server.ts'

// The command may run in a terminal without the server's variables, so the server itself writes the link.

test.concurrent.each(['connect', 'invite'])(
  'the link of extensions %s begins with the address of the running server, not with that of the terminal',
  (verb) =>
    withServer(
      async (world, sgw) => {
        const { url } = await sgw.json<{ url: string }>('extensions', verb, '--tenant', world.tenantId)
        expect(url).toStartWith('https://sms.example.com/v1/rc/connect?token=')
        const page = await world.call('GET', url.slice('https://sms.example.com'.length), { key: null })
        expect(page.status).toBe(200)
      },
      { PUBLIC_URL: 'https://sms.example.com' },
    ),
)
