import { expect, test } from 'bun:test'
import { SENT_TYPES, problemsOf, safeName } from '../../src/console/page/thread/sendable-file.ts'
import { MAX_FILE_NAME_LENGTH } from '../../src/core/limits.ts'
import { MEDIA_TYPES } from '../../src/core/media-types.ts'

test('the composer takes the types that the gateway takes, and no other', () => {
  expect(SENT_TYPES.toSorted()).toEqual(MEDIA_TYPES.toSorted())
})

test('a type that a browser names otherwise is taken, and one that carries a page or nothing is not', () => {
  const problemOf = (type: string): string | undefined => problemsOf([{ type, size: 1 }])[0]
  for (const type of ['image/jpg', 'audio/x-wav', 'audio/x-m4a', 'text/x-vcard', 'IMAGE/PNG', 'audio/ogg; codecs=opus'])
    expect(problemOf(type)).toBe('')
  for (const type of ['', 'image/svg+xml', 'text/html', 'application/zip', 'image/heic', 'constructor'])
    expect(problemOf(type)).toBe('This type of file cannot be sent')
})

test('what is refused takes no room from the files after it', () => {
  const file = (size: number, type = 'image/png') => ({ size, type })
  expect(problemsOf([file(1_500_001), file(1_000_000), file(600_000), file(500_000), file(1)])).toEqual([
    'Too large: a message takes 1.5 MB',
    '',
    'Too large beside the others: 500 KB left',
    '',
    'Too large beside the others: 0 KB left',
  ])
})

test('an upload has a name that the gateway takes, whatever the file is called', () => {
  const taken = (name: string): string => {
    const safe = safeName(name)
    expect([safe.length <= MAX_FILE_NAME_LENGTH, safe.isWellFormed(), /[\p{Cc}\u2028/\\]/u.test(safe)]).toEqual([
      true,
      true,
      false,
    ])
    return safe
  }
  expect(['door.png', 'C:\\photos\\door.png', 'a\r\nb: c.png'].map(taken)).toEqual([
    'door.png',
    'C:_photos_door.png',
    'a__b: c.png',
  ])
  expect(taken(`${'x'.repeat(300)}.png`)).toEndWith('x.png')
  for (const name of ['\ud800.png', '😀'.repeat(130), `${'😀'.repeat(127)}.a`, '../../etc/passwd', '\u2028'])
    taken(name)
})
