/**
 * Chromium without a window, for tests of pages and for pictures of the documentation. The package
 * `@sparticuz/chromium` contains it, with the libraries and fonts that it needs. `CHROMIUM` names another
 * one; the package is for Linux on x64 only.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromium, type Browser } from 'playwright-core'

const root = fileURLToPath(new URL('../..', import.meta.url))
const cache = join(root, 'node_modules/.cache/identity-agent')

/** Page content is the project's own, and containers often forbid the sandbox. */
const defaults = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/**
 * Only the package's fonts, so that pages look the same everywhere. The package's own file names fixed
 * folders. A cache folder is absolute.
 */
const fontsConf = (folder: string) => `<?xml version="1.0"?>
<fontconfig>
  <dir prefix="relative">fonts</dir>
  <cachedir>${folder}/cache</cachedir>
</fontconfig>
`

/**
 * Each start uses a new, empty user data folder. `more` are arguments of Chromium.
 *
 * @throws {Error} if there is none for this platform
 */
export function launch(...more: string[]): Promise<Browser> {
  const { CHROMIUM, PATH } = process.env
  const args = [...defaults, ...more]
  if (CHROMIUM !== undefined) return chromium.launch({ executablePath: CHROMIUM, args })
  const folder = unpack()
  const env = {
    ...(PATH !== undefined && { PATH }),
    HOME: folder,
    LD_LIBRARY_PATH: join(folder, 'al2023/lib'),
    FONTCONFIG_PATH: join(folder, 'fonts'),
  }
  return chromium.launch({ executablePath: join(folder, 'chromium'), args, env })
}

/** Unpacks the package's Chromium once per release, which takes two seconds. Returns the folder. */
function unpack(): string {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new Error(
      `Browser tests have no Chromium for ${process.platform} on ${process.arch}. Set CHROMIUM to the path of yours.`,
    )
  const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    devDependencies: Record<string, string>
  }
  const folder = join(cache, `chromium-${devDependencies['@sparticuz/chromium']}`)
  if (existsSync(folder)) return folder
  mkdirSync(cache, { recursive: true })
  const part = mkdtempSync(`${folder}.part-`)
  // As root, it would change the owners of files, which user namespaces refuse.
  const unpacking = `delete process.getuid; await (await import('@sparticuz/chromium')).default.executablePath()`
  // The package unpacks into the temporary folder. With the variable of AWS Lambda it unpacks its libraries
  // too, and changes its environment.
  const env = { ...process.env, TMPDIR: part, AWS_LAMBDA_JS_RUNTIME: 'nodejs24.x' }
  execFileSync(process.execPath, ['--input-type=module', '--eval', unpacking], { cwd: root, env })
  writeFileSync(join(part, 'fonts/fonts.conf'), fontsConf(folder))
  try {
    renameSync(part, folder)
  } catch (error) {
    // Another process was faster.
    if (!existsSync(folder)) throw error
    rmSync(part, { recursive: true })
  }
  return folder
}
