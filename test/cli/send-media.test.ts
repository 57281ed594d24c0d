import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'bun:test'
import { withServer } from '../support/cli-server.ts'
import { PNG } from '../support/media.ts'
import { FROM, TO } from '../support/world.ts'

test('sgw send uploads files and sends them, with a text and without one', async () => {
  using files = folder({ 'door.jpg': PNG, 'me.vcf': Buffer.from('BEGIN:VCARD'), 'page.html': Buffer.from('<p>') })
  await withServer(async (world, sgw) => {
    const door = ['--from', FROM, '--to', TO, '--media', join(files.path, 'door.jpg')]
    const sent = await sgw.text(
      'send',
      ...door,
      '--media',
      join(files.path, 'me.vcf'),
      '--wait',
      'Somebody is at the door',
    )
    expect(sent).toMatchObject({ code: 0, stdout: expect.stringContaining('sent') as string })
    const alone = await sgw.json<{ messageId: string; body: string }>('send', ...door)
    expect(alone.body).toBe('')
    await world.untilStatus(alone.messageId)
    const carried = world.control
      .messages({ direction: 'Outbound' })
      .map(({ text, attachments }) => [
        text,
        ...attachments.map(({ contentType, fileName }) => `${contentType} ${fileName}`),
      ])
    expect(carried).toEqual([
      ['Somebody is at the door', 'image/png door.jpg', 'text/vcard me.vcf'],
      ['', 'image/png door.jpg'],
    ])
  })
})

test('sgw send says what is wrong with a file before it sends anything', async () => {
  using files = folder({ 'page.html': Buffer.from('<p>'), 'large.png': Buffer.concat([PNG, Buffer.alloc(1_500_000)]) })
  await withServer(async (world, sgw) => {
    const to = ['send', '--from', FROM, '--to', TO]
    const refused = async (name: string): Promise<string> =>
      (await sgw.text(...to, '--media', join(files.path, name), 'Hi')).stderr
    expect(await refused('page.html')).toContain('page.html has no type that can be sent: image/jpeg, ')
    expect(await refused('missing.png')).toContain('missing.png cannot be read')
    expect(await refused('large.png')).toContain('Payload too large')
    expect(await sgw.text(...to)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("missing required argument 'text'") as string,
    })
    expect(world.control.messages({ direction: 'Outbound' })).toEqual([])
  })
})

function folder(files: Record<string, Uint8Array>): Disposable & { path: string } {
  const path = mkdtempSync(join(tmpdir(), 'sgw-files-'))
  for (const [name, bytes] of Object.entries(files)) writeFileSync(join(path, name), bytes)
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}
