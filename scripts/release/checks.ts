import { $ } from 'bun'

/** The commit of 1.0.0, which has no tag. */
const FIRST_RELEASE = '2cea006'

/** Returns why the commit of this tree cannot be released as this version: a line for each reason. */
export async function findProblems(version: string): Promise<string[]> {
  const tags = (await $`git tag --list`.text()).split('\n').filter((tag) => /^v\d/.test(tag))
  return [
    ...refuseVersion(version, tags),
    ...(await refuseChangelog(version)),
    ...(await refuseOpenApi(version)),
    ...(await refuseDirtyTree()),
    ...(await refuseChangedMigrations(tags)),
  ]
}

function refuseVersion(version: string, tags: readonly string[]): string[] {
  if (!/^\d+\.\d+\.\d+$/.test(version)) return [`package.json: ${version} is no version of a release, such as 1.1.0`]
  return tags.includes(`v${version}`) ? [`package.json: there is a tag v${version} already`] : []
}

async function refuseChangelog(version: string): Promise<string[]> {
  const [first = '', ...earlier] = (await Bun.file('CHANGELOG.md').text()).match(/^## .*/gm) ?? []
  const above = earlier.filter((heading) => Bun.semver.order(versionOf(heading), version) >= 0)
  if (above.length > 0) return above.map((heading) => `CHANGELOG.md: ${heading} is not older than ${version}`)
  if (first === '## Unreleased')
    return ['CHANGELOG.md: ## Unreleased still stands above: give it the version and the date']
  const isDated = new RegExp(`^## ${RegExp.escape(version)} \\(\\d{4}-\\d{2}-\\d{2}\\)$`).test(first)
  return isDated ? [] : [`CHANGELOG.md: the first heading must be ## ${version} (YYYY-MM-DD), and is ${first}`]
}

const versionOf = (heading: string): string => /\d+\.\d+\.\d+/.exec(heading)?.[0] ?? '0.0.0'

async function refuseOpenApi(version: string): Promise<string[]> {
  const { info } = (await Bun.file('docs/openapi.json').json()) as { info: { 'x-build': string } }
  return info['x-build'] === version
    ? []
    : [`docs/openapi.json: x-build is ${info['x-build']}: UPDATE_OPENAPI=1 bun test test/api/http/openapi.test.ts`]
}

async function refuseDirtyTree(): Promise<string[]> {
  const changed = (await $`git status --porcelain`.text()).trim()
  return changed === '' ? [] : [`The tree has changes that are not committed:\n${changed}`]
}

/** A migration that was released has run on databases of users: the next start would refuse them. */
async function refuseChangedMigrations(tags: readonly string[]): Promise<string[]> {
  const changes: string[] = []
  const hasFirst = (await $`git cat-file -e ${FIRST_RELEASE}`.nothrow().quiet()).exitCode === 0
  for (const tag of hasFirst ? [FIRST_RELEASE, ...tags] : tags) {
    const changed = await $`git diff --name-only --diff-filter=MDR ${tag} HEAD -- ${'drizzle/*.sql'}`.text()
    for (const file of changed.split('\n').filter((line) => line !== ''))
      changes.push(`${file} was released with ${tag} and has changed: restore it, and make a new migration`)
  }
  return changes
}
