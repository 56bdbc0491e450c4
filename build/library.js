/**
 * Bundles the exports of the package: the client, and agents in the process of a program. Part of `npm run
 * build`.
 */
import { readFileSync } from 'node:fs'

/**
 * zod keeps its settings in global variables. Those of an agent must not change the zod of the program around
 * it.
 */
export const ownZod = {
  name: 'own-zod',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]zod[\\/]v4[\\/]core[\\/](?:core|registries)\.js$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replaceAll('__zod_global', '__identity_agent_zod_global'),
    }))
  },
}

/**
 * Not minified, because programs that minify do it themselves, and others can read it. `separate` leaves a
 * module in another bundle, and `build` calls esbuild.
 */
export async function bundleLibrary(root, separate, build) {
  const common = {
    absWorkingDir: root,
    bundle: true,
    format: 'esm',
    target: 'es2022',
    sourcemap: true,
    legalComments: 'none',
    logLevel: 'warning',
    metafile: true,
    outdir: 'dist',
  }
  await build({
    ...common,
    platform: 'browser',
    entryPoints: { client: 'library/client/index.ts' },
    // The file is given away without its map.
    sourcemap: 'external',
  })
  await build({
    ...common,
    platform: 'node',
    entryPoints: { index: 'library/in-process/index.ts' },
    // The two exports share one client, so that its errors are of one class.
    plugins: [separate([[/[\\/]client[\\/]index\.ts$/, './client.js']])],
  })
}
