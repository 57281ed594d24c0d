import { expect, setDefaultTimeout, test } from 'bun:test'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { sgwIn } from '../support/cli.ts'
import { withServer } from '../support/cli-server.ts'
import { BASE_ENVIRONMENT } from '../support/environment.ts'
import { PROJECT } from '../support/program.ts'
import { FROM, TO, type World } from '../support/world.ts'

// Each test starts many processes, and all run at once.
setDefaultTimeout(60_000)

const SEND = ['send', '--from', FROM, '--to', TO]

const bodies = async (world: World): Promise<string[]> => {
  const { body } = await world.json<{ messages: { body: string }[] }>('GET', '/v1/sms/messages?limit=100')
  return body.messages.map((message) => message.body).toReversed()
}

test.concurrent('- as the text sends what standard input has, without one line break at its end', async () => {
  await withServer(async (world) => {
    const pipe = (input: string | Uint8Array<ArrayBuffer>, words = [...SEND, '-']) =>
      sgwIn(world.folder, words, {}, new Blob([input]))
    for (const [input, body] of [
      ['disk full\n', 'disk full'],
      ['Grüße 👋\r\n', 'Grüße 👋'],
      ['two lines\nand a blank one\n\n', 'two lines\nand a blank one\n'],
    ] as const) {
      expect(await pipe(input)).toMatchObject({ code: 0, stderr: '' })
      expect((await bodies(world)).at(-1)).toBe(body)
    }
    const inbound = ['simulate', 'inbound', '--to', FROM, '--from', TO, '--text', '-']
    expect(await pipe('from a pipe\n', inbound)).toMatchObject({ code: 0, stderr: '' })
    expect((await bodies(world)).at(-1)).toBe('from a pipe')
    const sent = (await bodies(world)).length
    const noText = 'body must be 1-1600 characters\n'
    const file = openSync(world.folder, 'r')
    const [empty, none, long, latin1, folder] = await Promise.all([
      pipe('\n'),
      sgwIn(world.folder, [...SEND, '-']),
      pipe('x'.repeat(65_537)),
      pipe(new Uint8Array([0x47, 0x72, 0xfc, 0xdf, 0x65])),
      sgwIn(world.folder, [...SEND, '-'], {}, file),
    ])
    expect([empty, none, long, latin1, folder]).toEqual([
      { code: 1, stdout: '', stderr: noText },
      { code: 1, stdout: '', stderr: noText },
      {
        code: 1,
        stdout: '',
        stderr: 'Standard input has more than 64 KB: a text has at most 1,600 characters\n',
      },
      {
        code: 1,
        stdout: '',
        stderr: 'Standard input is not UTF-8: convert it, for example with iconv -f LATIN1 -t UTF-8\n',
      },
      {
        code: 1,
        stdout: '',
        stderr: 'Standard input cannot be read (EISDIR): pipe the text, or give it a file\n',
      },
    ])
    closeSync(file)
    expect(await bodies(world)).toHaveLength(sent)
  })
})

test.concurrent('- at a terminal sends nothing, and says how to write the text', async () => {
  await withServer(async (world) => {
    let screen = ''
    const child = Bun.spawn([process.execPath, join(PROJECT, 'src/cli.ts'), ...SEND, '-'], {
      env: {
        ...BASE_ENVIRONMENT,
        HOME: process.env['HOME'] ?? '',
        DATABASE_URL: `file:${world.folder}/sgw.db`,
      },
      terminal: { data: (_terminal, bytes) => void (screen += new TextDecoder().decode(bytes)) },
    })
    expect(await child.exited).toBe(2)
    child.terminal?.close()
    expect(screen).toContain('- reads the text from standard input, which is a terminal here')
    expect(screen).toContain('echo "disk full" | sgw send')
    expect(await bodies(world)).toEqual([])
  })
})

test.concurrent('a text that begins with - is told from an option, and goes out after --', async () => {
  await withServer(async (world, sgw) => {
    for (const words of [
      [...SEND, '-5 degrees'],
      ['send', '-5 degrees'],
    ])
      expect(await sgw.text(...words)).toMatchObject({
        code: 2,
        stderr: `error: unknown option '-5 degrees'\n(A text that begins with - goes after --: sgw send … -- TEXT)\nHelp: sgw send --help\n`,
      })
    expect((await sgw.text(...SEND, '--waitt', 'hi')).stderr).toBe(
      "error: unknown option '--waitt'\n(Did you mean --wait?)\nHelp: sgw send --help\n",
    )
    expect((await sgw.text('messages', 'list', '-5')).stderr).not.toContain('after --')
    expect(await sgw.text(...SEND, '--', '-5 degrees')).toMatchObject({ code: 0 })
    expect(await bodies(world)).toEqual(['-5 degrees'])
  })
})
