/**
 * Writes `oclif.manifest.json`, which oclif reads instead of loading every command. The package `oclif` has a
 * command for it, and more than 300 dependencies. Part of `npm run build`.
 */
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Plugin } from '@oclif/core'

const root = fileURLToPath(new URL('..', import.meta.url))
const plugin = new Plugin({ root, type: 'core', ignoreManifest: true, errorOnManifestCreate: true })
await plugin.load()
writeFileSync(`${root}oclif.manifest.json`, `${JSON.stringify(plugin.manifest)}\n`)
