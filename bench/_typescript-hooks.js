/** The module hook of `_typescript.js`; Node runs it on a thread of its own. */
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { transform } from 'esbuild'

/** @type {import('node:module').LoadHook} */
export async function load(url, context, next) {
  if (!url.startsWith('file:') || !url.endsWith('.ts')) return next(url, context)
  const path = fileURLToPath(url)
  const options = { loader: 'ts', format: 'esm', target: 'node20', sourcefile: path, sourcemap: 'inline' }
  const { code } = await transform(await readFile(path, 'utf8'), options)
  return { format: 'module', source: code, shortCircuit: true }
}
