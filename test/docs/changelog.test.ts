import { expect, test } from 'bun:test'

const MAX_LINES = 60
const ALIKE = 50

test('the changelog says each thing once', async () => {
  const bullets = (await read()).match(/^- .*/gm) ?? []
  const begun = new Set<string>()
  const repeated = bullets.filter((bullet) => {
    const beginning = bullet.slice(0, ALIKE)
    return begun.has(beginning) || !begun.add(beginning)
  })
  expect(bullets.length).toBeGreaterThan(0)
  expect(repeated).toEqual([])
})

test('a released version has at most 60 lines in the changelog', async () => {
  const versions = (await read()).split(/^(?=## \d)/m).slice(1)
  expect(versions.length).toBeGreaterThan(1)
  const tooLong = versions.filter((version) => version.trim().split('\n').length > MAX_LINES)
  expect(tooLong.map((version) => version.split('\n')[0])).toEqual([])
})

const read = (): Promise<string> => Bun.file('CHANGELOG.md').text()
