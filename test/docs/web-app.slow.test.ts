/** The files of docs/how-to/web-app.md compile with the packages that it names, and its servers run. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { transformSync } from 'esbuild'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { acceptRequest, anyCredential, startWallet } from '../exchange/oid4vp/holder/_holder.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { freePorts } from '../support/free-port.ts'
import { read, readBlocks } from '../support/pages.ts'
import { until } from '../support/tenants.ts'
import { untilEnd } from '../support/shared.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const files = readBlocks(read('docs/how-to/web-app.md')).blocks.filter(({ file }) => file !== undefined)

const wallet = await untilEnd(startWallet())

/** Makes a project with the files of the page, compiled, and the packages. */
function fill(folder: string): void {
  if (!existsSync(join(root, 'dist/client.d.ts')))
    execFileSync('npm', ['run', 'declarations', '--silent'], { cwd: root, stdio: 'inherit' })
  mkdirSync(join(folder, 'node_modules/@koa'), { recursive: true })
  for (const name of ['express', 'koa', '@koa/router', 'qr', 'react', '@types'])
    symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name))
  symlinkSync(root, join(folder, 'node_modules/identity-agent'))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  for (const { file, text } of files) {
    writeFileSync(join(folder, file!), text)
    const { code } = transformSync(text, { loader: 'tsx', jsx: 'automatic', format: 'esm', target: 'node20' })
    writeFileSync(join(folder, file!.replace(/\.tsx?$/, '.js')), code)
  }
}

const { path: folder } = await untilEnd(temporaryFolder())
fill(folder)

test('the files compile in strict mode', () => {
  const names = files.map(({ file }) => join(folder, file!))
  const program = ts.createProgram(names, {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: ['node'],
    typeRoots: [join(folder, 'node_modules/@types')],
    jsx: ts.JsxEmit.ReactJSX,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
  })
  const faults = ts
    .getPreEmitDiagnostics(program)
    .map(
      ({ file, messageText }) => `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`,
    )
  expect(faults).toEqual([])
})

test.each(['server-express.js', 'server-koa.js'])(
  '%s asks a wallet, and returns its answer',
  async (name) => {
    const [port] = await freePorts(1)
    const { agent, issuingDID } = wallet
    const server = spawn(process.execPath, [name], {
      cwd: folder,
      stdio: 'inherit',
      env: {
        PATH: process.env['PATH'],
        AGENT: agent.url,
        API_KEY: wallet.verifier.tenant.apiKey,
        ISSUER: issuingDID,
        VCT: anyCredential,
        PORT: String(port),
      },
    })
    try {
      const url = `http://127.0.0.1:${port}/checks`
      const isUp = () => fetch(url, { method: 'HEAD' }).catch(() => undefined)
      await until('a listening server', isUp, (response) => response !== undefined)
      const asked = (await (await fetch(url, { method: 'POST' })).json()) as Record<string, string>
      const answer = fetch(`${url}/${asked['id']}`)
      await acceptRequest(wallet, asked['link']!)
      expect(await (await answer).json()).toEqual({ isValid: true, name: 'Alice' })
    } finally {
      server.kill()
      await once(server, 'exit')
    }
  },
)
