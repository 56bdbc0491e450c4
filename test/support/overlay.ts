/** The program with some sources changed: a test adds a row to a table, and runs what comes of it. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'

/** How the texts of sources change, by their paths in the repository. */
export type Overlay = Readonly<Record<string, (text: string) => string>>

/** Builds and loads a module with the changes. `dispose` removes what was written. */
export async function loadWith(
  entry: string,
  overlay: Overlay,
): Promise<{ parts: unknown; dispose: () => void }> {
  // Inside the repository, so that Node.js resolves packages.
  const folder = mkdtempSync(resolve('node_modules/.overlay-'))
  const outfile = join(folder, 'program.mjs')
  await build({
    stdin: { contents: entry, resolveDir: resolve('.'), loader: 'ts' },
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    packages: 'external',
    logLevel: 'error',
    plugins: [
      {
        name: 'overlay',
        setup(builder) {
          builder.onLoad({ filter: /\.ts$/ }, ({ path }) => {
            const edit = overlay[relative(resolve('.'), path).replaceAll('\\', '/')]
            return edit && { contents: edit(readFileSync(path, 'utf8')), loader: 'ts' }
          })
        },
      },
    ],
  })
  const dispose = () => rmSync(folder, { recursive: true })
  return { parts: await import(pathToFileURL(outfile).href), dispose }
}

/** Adds a row after another text. @throws {Error} if the text is not there exactly once */
export function withRow(text: string, after: string, row: string): string {
  if (text.split(after).length !== 2) throw new Error(`${after} is not there once`)
  return text.replace(after, () => after + row)
}
