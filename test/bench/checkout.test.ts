import { expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkOut } from '../../bench/gateway/checkout.ts'

function git(folder: string, ...words: string[]): string {
  const identity = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com']
  const { stdout, success, stderr } = Bun.spawnSync(['git', ...identity, ...words], { cwd: folder })
  if (!success) throw new Error(stderr.toString())
  return stdout.toString().trim()
}

/** A repository with two commits of `main.txt` and an uncommitted change to it. */
function repository(): Disposable & { folder: string; first: string } {
  const folder = mkdtempSync(join(tmpdir(), 'sgw-test-'))
  git(folder, 'init', '-q')
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'checked-out', private: true }))
  const commit = (text: string): string => {
    writeFileSync(join(folder, 'main.txt'), text)
    git(folder, 'add', '.')
    git(folder, 'commit', '-qm', text)
    return git(folder, 'rev-parse', 'HEAD')
  }
  const first = commit('first')
  commit('second')
  writeFileSync(join(folder, 'main.txt'), 'uncommitted')
  return { folder, first, [Symbol.dispose]: () => rmSync(folder, { recursive: true }) }
}

test('a commit is checked out into a folder of its own, which is deleted afterwards', () => {
  using made = repository()
  const { folder, first } = made
  const source = checkOut(first.slice(0, 7), folder)
  expect(source.label).toBe(first.slice(0, 7))
  expect(readFileSync(join(source.folder, 'main.txt'), 'utf8')).toBe('first')
  expect(readFileSync(join(folder, 'main.txt'), 'utf8')).toBe('uncommitted')
  source[Symbol.dispose]()
  expect(existsSync(source.folder)).toBe(false)
  expect(git(folder, 'worktree', 'list').split('\n')).toHaveLength(1)
})

test('an unknown commit is an error that names it', () => {
  using made = repository()
  expect(() => checkOut('no-such-commit', made.folder)).toThrow(/no-such-commit/)
})
