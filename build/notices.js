/**
 * The licences of the packages that the bundles contain. They must accompany every copy of those packages.
 * Part of `npm run build`.
 */
import { readdirSync, readFileSync } from 'node:fs'

const line = '-'.repeat(80)

/**
 * One text: for each package of the bundles a line `name version (licence)` between two rules, then its
 * licence.
 *
 * @param {string} root the folder of package.json, with a slash at its end
 * @param {import('esbuild').Metafile[]} metafiles
 */
export function notices(root, metafiles) {
  const folders = new Set()
  for (const { outputs } of metafiles)
    for (const { inputs } of Object.values(outputs))
      for (const [path, { bytesInOutput }] of Object.entries(inputs)) {
        const [folder] = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? []
        if (folder && bytesInOutput > 0) folders.add(folder)
      }
  return [...folders]
    .toSorted((one, other) => (one < other ? -1 : 1))
    .map((folder) => notice(root + folder))
    .join('\n')
}

function notice(folder) {
  const { name, version, license } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'))
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file))
  const texts = files.toSorted().map((file) => readFileSync(`${folder}/${file}`, 'utf8').trim())
  if (texts.length === 0) texts.push('The package has no text of its licence.')
  return `${line}\n${name} ${version} (${license ?? 'see below'})\n${line}\n\n${texts.join('\n\n')}\n`
}
