import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'bun:test'
import { withServer } from '../support/cli-server.ts'
import { PNG, pngOf, uploaded } from '../support/media.ts'
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

test('messages list marks those with files, and messages show has name, type and size of each', async () => {
  using files = folder({ 'door.jpg': PNG, 'me.vcf': Buffer.from('BEGIN:VCARD') })
  await withServer(async (world, sgw) => {
    const media = ['door.jpg', 'me.vcf'].flatMap((name) => ['--media', join(files.path, name)])
    const sent = await sgw.json<{ messageId: string }>('send', '--from', FROM, '--to', TO, ...media, 'Two files')
    await world.control.injectSms({
      from: TO,
      to: FROM,
      text: 'One file',
      attachments: [{ contentType: 'image/gif', data: 'R0lGODlh' }],
    })
    await world.control.injectSms({ from: TO, to: FROM, text: 'No file' })
    const failed = await world.send({ from: '+15555550999', mediaIds: [(await uploaded(world, PNG)).mediaId] })
    await world.untilStatus(failed, ['failed'])
    const list = (await sgw.text('messages', 'list')).stdout
    expect(list).toMatch(/ \[2 files\] Two files$/m)
    expect(list).toMatch(/ \[1 file\] One file$/m)
    expect(list).toMatch(/received +No file$/m)
    expect(list).toMatch(/failed +\[1 file\] Phone number /m)
    const { messages } = await sgw.json<{ messages: { messageId: string; body: string }[] }>('messages', 'list')
    const shown = async (body: string): Promise<string> => {
      const { messageId = sent.messageId } = messages.find((message) => message.body === body) ?? {}
      return (await sgw.text('messages', 'show', messageId)).stdout
    }
    const size = `${PNG.length} bytes`
    expect(await shown('Two files')).toMatch(
      new RegExp(`^files +door\\.jpg \\(image/png, ${size}\\); me\\.vcf \\(text/vcard, 11 bytes\\)$`, 'm'),
    )
    expect(await shown('One file')).toMatch(/^files +image\/gif, 6 bytes$/m)
    expect(await shown('No file')).not.toMatch(/^files/m)
  })
})

test('sgw send says what is wrong with a file before it sends anything', async () => {
  using files = folder({
    'page.html': Buffer.from('<p>'),
    'large.png': pngOf(2_400_000),
    'half.png': pngOf(800_000),
    'empty.png': Buffer.alloc(0),
    'saved.jpg': Buffer.from('<html>not found</html>'),
    'phone.HEIC': Buffer.from('....ftypheic'),
  })
  await withServer(async (world, sgw) => {
    const to = ['send', '--from', FROM, '--to', TO]
    const refused = async (name: string): Promise<string> =>
      (await sgw.text(...to, '--media', join(files.path, name), 'Hi')).stderr
    expect(await refused('page.html')).toContain('page.html is not a type that can be sent: image/jpeg, ')
    expect(await refused('missing.png')).toContain('missing.png cannot be read')
    expect(await refused('large.png')).toContain(
      'large.png has 2,400,000 bytes, and a file may have 1,500,000 bytes: make it smaller',
    )
    expect(await refused('empty.png')).toContain('empty.png is empty')
    for (const name of ['saved.jpg', 'phone.HEIC'])
      expect(await refused(name)).toContain(
        `${name} does not contain a JPEG, PNG, GIF, BMP, TIFF or WebP picture, whatever its name says: `,
      )
    const half = ['--media', join(files.path, 'half.png')]
    expect((await sgw.text(...to, ...half, ...half, 'Hi')).stderr).toContain(
      'The files have 1,600,000 bytes together, and the files of one message may have 1,500,000 bytes',
    )
    expect((await world.gateway.database.gate.execute('SELECT 1 FROM media')).rows).toEqual([])
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
