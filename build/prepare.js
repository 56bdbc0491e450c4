/** npm runs this after `npm ci` and `npm install` in a clone: builds the program and the generated pages. */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { keepPrebuilt } from './lock.js'

const root = fileURLToPath(new URL('..', import.meta.url))

if (existsSync(`${root}node_modules/esbuild`)) {
  keepPrebuilt()
  const npm = process.env['npm_execpath']
  const options = { cwd: root, stdio: 'inherit' }
  try {
    if (npm) execFileSync(process.execPath, [npm, 'run', 'docs'], options)
    else execFileSync('npm', ['run', 'docs'], { ...options, shell: true })
  } catch {
    // It has said why.
    process.exitCode = 1
  }
} else {
  console.log(
    'The program was not built, because the packages that build it are devDependencies and were left out: run npm ci without --omit=dev to build it.',
  )
}
