/** Writes `oclif.manifest.json`, so that a command starts without loading all the others. Part of `npm run build`. */
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Plugin } from '@oclif/core'

const root = fileURLToPath(new URL('..', import.meta.url))
const plugin = new Plugin({ root, type: 'core', ignoreManifest: true, errorOnManifestCreate: true })
await plugin.load()
// Without spaces, and with nothing but ASCII, it is read in half the time.
const escaped = (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
const manifest = JSON.stringify(plugin.manifest).replaceAll(/[\u0080-\uffff]/g, escaped)
writeFileSync(new URL('../oclif.manifest.json', import.meta.url), `${manifest}\n`)
