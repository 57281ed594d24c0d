import { expect, test } from 'bun:test'
import { HAS_LITESTREAM } from '../../support/litestream.ts'
import { S3Stub } from '../../support/s3-stub.ts'
import { Gateways } from './gateways.ts'

// A storage whose lists lag, or to which somebody has put back something older. It needs Litestream 0.5.18.

if (HAS_LITESTREAM) {
  test('a takeover waits for the copy that the lease speaks of, and takes no older one', async () => {
    let hidden = ''
    await using gateways = await Gateways.create(
      new S3Stub({ pageSize: 1000, hides: (name) => hidden !== '' && name.startsWith(hidden) }),
    )
    const [one, two] = [gateways.machine('one'), gateways.machine('two')]
    await one.startUntil('ready')
    await one.connect()
    await one.stop()
    await one.startUntil('ready')
    const ids = await one.send('first', 'second')
    await one.stop()
    hidden = 'sgw/e2/'
    await two.startUntil('starting')
    await Bun.sleep(4000)
    expect(await two.state()).toBe('starting')
    hidden = ''
    await two.untilState('ready')
    expect(await two.missing(ids)).toBe(0)
  }, 120_000)

  for (const [which, from, to] of [
    ['the newest files', -3, undefined],
    ['some files in the middle', -4, -2],
  ] as const)
    test(`a takeover waits until ${which} of the last holder are listed, and loses nothing`, async () => {
      let hidden: readonly string[] = []
      await using gateways = await Gateways.create(
        new S3Stub({ pageSize: 1000, hides: (name, prefix) => prefix !== 'sgw/' && hidden.includes(name) }),
      )
      const { bucket } = gateways.stub
      const [one, two] = [gateways.machine('one'), gateways.machine('two')]
      await one.startUntil('ready')
      await one.connect()
      const ids = await one.send('first', 'second', 'third', 'fourth')
      await one.stop()
      const lagging = bucket.keys.filter((key) => key.startsWith('sgw/e1/0000/')).slice(from, to)
      // Soon after a start, and then again and again, Litestream makes one file of them, and a snapshot: these lag as they do.
      const [oldest = ''] = lagging.map(lastTransaction)
      hidden = bucket.keys.filter(
        (key) =>
          lagging.includes(key) ||
          (key.startsWith('sgw/e1/') && !key.startsWith('sgw/e1/0000/') && lastTransaction(key) >= oldest),
      )
      await two.startUntil('starting')
      await Bun.sleep(4000)
      expect(await two.state()).toBe('starting')
      hidden = []
      await two.untilState('ready')
      expect(await two.missing(ids)).toBe(0)
    }, 120_000)

  test('an epoch whose folder has files before its first upload is refused', async () => {
    // The list of epochs does not have it, but the folder does.
    await using gateways = await Gateways.create(
      new S3Stub({ pageSize: 1000, hides: (name, prefix) => prefix === 'sgw/e' && name === 'sgw/e1/' }),
    )
    gateways.stub.bucket.put('sgw/e1/ltx/0/1.ltx', new Uint8Array(9))
    expect(await gateways.machine('one').enter()).toMatchObject({
      code: 78,
      stderr: expect.stringContaining('older than its epoch 1, which has just begun'),
    })
  }, 120_000)

  test('after an older lease was put back the holder ends, and the next one loses nothing that it had accepted', async () => {
    await using gateways = await Gateways.create()
    const [one, two] = [gateways.machine('one'), gateways.machine('two')]
    const { bucket } = gateways.stub
    await one.startUntil('ready')
    await one.connect()
    const older = bucket.get('sgw/lease.json').body
    const ids: string[] = []
    for (let times = 0; times < 2; times++) {
      await one.stop()
      await one.startUntil('ready')
      ids.push(...(await one.send(`holder ${times}`)))
    }
    bucket.put('sgw/lease.json', older)
    expect(await one.ended()).toBe(75)
    await two.startUntil('ready')
    expect([gateways.lease.epoch, await two.missing(ids)]).toEqual([4, 0])
    ids.push(...(await two.send('after')))
    await two.stop()
    await one.startUntil('ready')
    expect(await one.missing(ids)).toBe(0)
  }, 120_000)
}

/** In hexadecimal, of 16 digits. */
const lastTransaction = (key: string): string => /([\da-f]{16})\.ltx$/.exec(key)?.[1] ?? ''
