import { expect, setDefaultTimeout, test } from 'bun:test'
import { sgwIn } from '../support/cli.ts'
import { withServer } from '../support/cli-server.ts'
import { FROM, TO } from '../support/world.ts'

// Each test starts many processes.
setDefaultTimeout(60_000)

test('notify sends a text made from the JSON on standard input, and says what is wrong', async () => {
  await withServer(async (world) => {
    const pipe = (input: string, ...words: string[]) =>
      sgwIn(world.folder, ['notify', '--from', FROM, '--to', `${TO},+15555550198`, ...words], {}, new Blob([input]))
    const alert = JSON.stringify({ status: 'firing', host: { name: 'db1' } })
    const sent = await pipe(alert, '--text', '{{status}}: {{host.name}} + more', '--json')
    expect(sent).toMatchObject({ code: 0, stderr: '' })
    const { messages } = JSON.parse(sent.stdout) as { messages: { messageId: string; to: string }[] }
    expect(messages.map(({ to }) => to)).toEqual([TO, '+15555550198'])
    for (const { messageId } of messages)
      expect(await world.status(messageId)).toMatchObject({ body: 'firing: db1 + more' })
    const exact = await pipe(
      '{"n":12345678901234567890,"v":1.0,"e":1e3,"z":-0}',
      '--text',
      '{{n}} {{v}} {{e}} {{z}}',
      '--json',
    )
    const [first] = (JSON.parse(exact.stdout) as { messages: { messageId: string }[] }).messages
    expect(await world.status(first?.messageId ?? '')).toMatchObject({ body: '12345678901234567890 1.0 1e3 -0' })
    const table = await pipe('{"message":"the disk is full"}')
    expect(table.code).toBe(0)
    expect(table.stdout).toContain(TO)
    const [plain, empty, nothing, long, template, app] = await Promise.all([
      pipe('the disk is full\n'),
      pipe(''),
      pipe('{}'),
      pipe(JSON.stringify({ text: 'x'.repeat(102_400) })),
      pipe(alert, '--text', '{{host'),
      pipe(alert, '--text', 'x', '--app', 'app_0123456789abcdef'),
    ])
    const refused = (stderr: string) => ({ code: 1, stdout: '', stderr })
    const notJson = 'Standard input is not JSON: sgw send … - sends a plain text\n'
    expect([plain, empty, nothing, long, template, app]).toEqual([
      refused(notJson),
      refused(notJson),
      refused('body must be 1-1600 characters\n'),
      refused('Standard input has more than 100 KB of JSON\n'),
      refused('Invalid text: {{path.to.0.value}} is a value of the JSON, and a text has at most 2000 characters\n'),
      refused('There is no active app app_0123456789abcdef\n'),
    ])
    expect((await world.json('GET', '/v1/sms/messages')).body['total']).toBe(6)
  })
})
