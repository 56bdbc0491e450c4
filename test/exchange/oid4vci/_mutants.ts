/**
 * Mutants of the issuer and the verifier: a daemon in which each check of a list can be switched off. One
 * bundle contains all switches, so that a mutant needs no build.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import type * as sources from '../../../daemon/bundle.ts'
import type { Reply } from '../../support/ask.ts'
import type { Shown } from './_authorization.ts'
import type { Scene } from './_scene.ts'

/** A check that can be switched off. */
export type Switch = {
  /** In the folder of the list, or a path of the project. */
  file: string
  /**
   * The source of the check, which is in the file once: an expression, a member of an object, a zod type, or
   * an `if` statement.
   */
  text: string
  /** The expression without the check; `false` for the condition of a refusal. `any` for a zod type. */
  off: string
}

/** A check, and an attack that it stops: the response tells whether it succeeded. */
export type Check = Switch & { attack: (scene: Scene) => Promise<Reply | Shown> }

/** The file that checks all proof JWTs. */
export const proofJwt = 'src/credentials/codecs/proof-jwt.ts'

/**
 * A check with an attack. Its text is the condition of a refusal, or comes with the expression without the
 * check.
 */
export function check<Attack>(file: string, text: string | [text: string, off: string], attack: Attack) {
  const [source, off = 'false'] = [text].flat() as [string, string?]
  return { file, text: source, off, attack }
}

export const nameOf = ({ file, text }: Switch) => `${file}: ${text.replaceAll(/\s+/g, ' ')}`

/** Whether a response is not a refusal: a redirect has to have a code. */
export function isTaken(reply: Reply | Shown): boolean {
  if (reply.status === 303) return 'location' in reply && reply.location!.searchParams.has('code')
  return reply.status < 300
}

/** The response that tells whether an attack succeeded whose effect is elsewhere. */
export const replyIf = (hasSucceeded: boolean): Reply => ({
  status: hasSucceeded ? 200 : 400,
  body: undefined,
  headers: new Headers(),
})

/** Switches a check off, or none. */
export function switchOff(check: Switch | undefined): void {
  ;(globalThis as { mutant?: string | undefined }).mutant = check && nameOf(check)
}

/**
 * Builds the daemon with the switches, and loads it.
 *
 * @throws if the text of a check is not in its file, or is there twice
 */
export async function loadMutants(
  checks: readonly Switch[],
  folderOfFiles = 'src/exchange/oid4vci',
): Promise<typeof sources> {
  // A check that all proofs share has an attack for each.
  const switches = [...new Map(checks.map((check) => [nameOf(check), check])).values()]
  const pathOf = ({ file }: Switch) => resolve(file.includes('/') ? file : `${folderOfFiles}/${file}`)
  // Inside the project, where its packages are found.
  mkdirSync('dist', { recursive: true })
  const folder = mkdtempSync(resolve('dist/mutants-'))
  try {
    const outfile = join(folder, 'daemon.cjs')
    await build({
      entryPoints: ['daemon/bundle.ts'],
      outfile,
      bundle: true,
      platform: 'node',
      format: 'cjs',
      target: 'node20',
      supported: { 'dynamic-import': false },
      external: ['@napi-rs/keyring', 'better-sqlite3', 'pg-native', 'secp256k1'],
      logLevel: 'error',
      // Files beside the bundle are found where the built daemon is.
      define: { 'import.meta.url': JSON.stringify(pathToFileURL(resolve('dist/daemon/agent.cjs')).href) },
      plugins: [
        {
          name: 'mutants',
          setup: (plugin) =>
            plugin.onLoad({ filter: /\.ts$/ }, ({ path }) => {
              const found = switches.filter((check) => pathOf(check) === path)
              return found.length === 0
                ? undefined
                : { contents: found.reduce(addSwitch, readFileSync(path, 'utf8')), loader: 'ts' }
            }),
        },
      ],
    })
    return createRequire(import.meta.url)(outfile) as typeof sources
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Adds the switch of a check to the source of its file. @throws if its text is not there once */
export function addSwitch(source: string, check: Switch): string {
  const { text } = check
  const count = source.split(text).length - 1
  if (count !== 1) throw new Error(`${nameOf(check)}: the text is in the file ${count} times, not once`)
  // The parenthesis of a switch would make a call of the line before.
  const isStatement = /[\w)\]]\n\s*$/.test(source.slice(0, source.indexOf(text)))
  return source.replace(text, () => (isStatement && !text.startsWith('.') ? ';' : '') + switched(check))
}

function switched(check: Switch): string {
  const { text, off } = check
  const isOff = `globalThis.mutant === ${JSON.stringify(nameOf(check))}`
  if (text.startsWith('if (')) return `if (!(${isOff})) { ${text} }`
  if (text.startsWith('.where('))
    return `.where((eb) => (${isOff}) ? eb.lit(true) : eb${text.slice('.where'.length)})`
  if (off === 'any') {
    const refined = `z.any().refine((value) => ${isOff} || (${text}).safeParse(value).success, 'is refused')`
    return text.endsWith('.optional()') ? `${refined}.optional()` : refined
  }
  if (/^\w+: /.test(text)) return `...(${isOff} ? {} : { ${text} })`
  return `(${isOff} ? (${off}) : (${text}))`
}
