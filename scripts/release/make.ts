import { $ } from 'bun'
import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Platform } from '../platform.ts'
import { LICENCES_FILE, thirdPartyLicences } from '../licences.ts'
import { withPackageManifest } from '../package-manifest.ts'
import { packExecutable } from './archive.ts'
import { dependencyList } from './dependencies.ts'
import { packImage } from './image.ts'

export interface ReleaseOptions {
  version: string
  /** It is emptied first. */
  folder: string
  platforms: readonly Platform[]
}

/** Makes everything that a maintainer uploads. Returns what was made, and the commands that publish it. */
export async function makeRelease({ version, folder, platforms }: ReleaseOptions): Promise<string> {
  const startedAt = performance.now()
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  const commit = (await $`git rev-parse HEAD`.text()).trim()
  const facts = new Map<string, string>()
  const progress = (text: string): void => void process.stderr.write(`${text}\n`)
  for (const platform of platforms) {
    progress(`the executable for ${platform.name} …`)
    const { file, fact } = await packExecutable({ version, commit, folder, platform })
    facts.set(file, fact)
  }
  progress('the packages …')
  await packPackages(folder)
  progress('the image …')
  const image = await packImage({ version, commit, folder })
  facts.set(image.file, image.fact)
  await Bun.write(join(folder, `sgw-${version}-dependencies.cdx.json`), await dependencyList(version, platforms))
  await Bun.write(join(folder, LICENCES_FILE), await thirdPartyLicences())
  await Bun.write(join(folder, 'NOTES.md'), await notesOf(version))
  await writeSums(folder)
  const seconds = Math.round((performance.now() - startedAt) / 1000)
  const made = `${folder}, from commit ${commit.slice(0, 7)} in ${seconds} s:\n${await tableOf(folder, facts)}`
  return `${made}\n${commandsOf(version, folder, image.isMade)}`
}

/** The gateway's package, and the client's. The first command writes what is in them, as `prepack` does for a bare `npm pack`. */
async function packPackages(folder: string): Promise<void> {
  await $`${process.execPath} scripts/build-package.ts`.quiet()
  const pack = $`npm pack --silent --ignore-scripts --pack-destination ${folder} . ./dist/sgw-client`
  await withPackageManifest(() => pack.quiet())
}

async function notesOf(version: string): Promise<string> {
  const [, text = ''] = (await Bun.file('CHANGELOG.md').text()).split(/^## .*$/m)
  return `# sgw ${version}\n\n${text.trim()}\n`
}

/** For `sha256sum --check SHA256SUMS`. */
async function writeSums(folder: string): Promise<void> {
  const lines: string[] = []
  for (const name of (await readdir(folder)).toSorted())
    lines.push(`${Bun.SHA256.hash(await Bun.file(join(folder, name)).bytes(), 'hex')}  ${name}\n`)
  await Bun.write(join(folder, 'SHA256SUMS'), lines.join(''))
}

async function tableOf(folder: string, facts: ReadonlyMap<string, string>): Promise<string> {
  const names = [...new Set([...facts.keys(), ...(await readdir(folder))])].toSorted()
  const rows = names.map(async (name) => {
    const size = await stat(join(folder, name)).then(
      ({ size: bytes }) => sizeOf(bytes),
      () => '-',
    )
    return `  ${name.padEnd(36)}${size.padStart(9)}  ${facts.get(name) ?? ''}`.trimEnd()
  })
  return `${(await Promise.all(rows)).join('\n')}\n`
}

const sizeOf = (bytes: number): string =>
  bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} KB` : `${(bytes / 1e6).toFixed(1)} MB`

function commandsOf(version: string, folder: string, hasImage: boolean): string {
  const commands = [
    `git tag --annotate v${version} --message 'sgw ${version}' && git push origin v${version}`,
    `gh release create v${version} --notes-file ${folder}/NOTES.md ${folder}/sgw-* ${folder}/${LICENCES_FILE} ${folder}/SHA256SUMS`,
    `npm publish ${folder}/sgw-client-${version}.tgz`,
    ...(hasImage ? [`docker load --input ${folder}/sgw-${version}-image-*.tar    # then docker tag, docker push`] : []),
  ]
  return `Publishing is left to you:\n${commands.map((command) => `  ${command}\n`).join('')}`
}
