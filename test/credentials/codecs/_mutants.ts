/**
 * Mutants of the verification: the same code with a single check disabled. One module contains all of them,
 * so that a mutant needs no build.
 */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import ts from 'typescript'

/** The files whose checks are disabled one by one. */
export const files = [
  'credentials/codecs/constraints.ts',
  'credentials/codecs/did-signature.ts',
  'credentials/codecs/jws.ts',
  'credentials/codecs/jwt-vc.ts',
  'credentials/codecs/jwt-vp.ts',
  'credentials/codecs/validity.ts',
  'credentials/codecs/verify.ts',
  'credentials/codecs/sd-jwt/disclosure.ts',
  'credentials/codecs/sd-jwt/issuer-jwt.ts',
  'credentials/codecs/sd-jwt/key-binding.ts',
  'credentials/codecs/sd-jwt/presentation.ts',
  'credentials/codecs/sd-jwt/sd-jwt.ts',
  'credentials/codecs/sd-jwt/unpack.ts',
  'credentials/formats/presentation.ts',
  'credentials/formats/jwt/presentation.ts',
  'wallet/verification/lines.ts',
  'credentials/formats/sd-jwt/presentation.ts',
  'wallet/verification/checks.ts',
  'credentials/formats/jwt/compliance.ts',
  'credentials/formats/jwt/parts.ts',
  'credentials/formats/sd-jwt/compliance.ts',
  'credentials/formats/sd-jwt/parts.ts',
].map((name) => resolve('src', name))

/** A check, identified by position and text. `atLoad`: it runs when its module is loaded. */
export type Mutant = { check: string; atLoad: boolean }

/** A file with its checks. In `text`, `globalThis.mutant` names the disabled check. */
export type Switchable = { file: string; text: string; mutants: Mutant[] }

/**
 * Adds a switch around every statement that throws or calls a check, every function that only checks, and
 * every checked claim.
 */
export function switchable(file: string): Switchable {
  const text = readFileSync(file, 'utf8')
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  const mutants: Mutant[] = []
  const print = (node: ts.Node): string => {
    const around = switchOf(node)
    const { line } = source.getLineAndCharacterOfPosition(node.getStart())
    const statement = node.getText().replaceAll(/\s+/g, ' ')
    const check = `${file.replace(/.*src\//, '')}:${line + 1} ${statement}`
    if (around) mutants.push({ check, atLoad: isClaim(node) })
    let printed = ''
    let end = node.getStart()
    ts.forEachChild(node, (child) => {
      printed += text.slice(end, child.getStart()) + print(child)
      end = child.getEnd()
    })
    printed += text.slice(end, node.getEnd())
    return around ? around(`globalThis.mutant === ${JSON.stringify(check)}`, printed) : printed
  }
  return { file, text: print(source), mutants }
}

/** Wraps the text of a check in a switch. Undefined for other nodes. */
function switchOf(node: ts.Node): ((off: string, text: string) => string) | undefined {
  if (isRefusal(node) || isCheck(node)) return (off, text) => `{ if (!(${off})) ${text} }`
  if (isCheckingBody(node)) return (off, text) => `(${off} ? undefined : ${text})`
  return isClaim(node) ? (off, text) => `...(${off} ? {} : { ${text} })` : undefined
}

/** A rethrow (`throw error`) is not a check. */
function isRefusal(node: ts.Node): node is ts.ThrowStatement {
  return (
    ts.isThrowStatement(node) &&
    /^(?:new VerificationError|malformed|new TypeError\(`|refus)/.test(node.expression.getText())
  )
}

function isCheck(node: ts.Node): node is ts.ExpressionStatement {
  return ts.isExpressionStatement(node) && isCheckingCall(node.expression)
}

/** The body of a function that only checks: `(token) => token.claims()`. */
function isCheckingBody(node: ts.Node): boolean {
  return (
    !ts.isSourceFile(node) &&
    ts.isArrowFunction(node.parent) &&
    node.parent.body === node &&
    ts.isExpression(node) &&
    isCheckingCall(node)
  )
}

function isCheckingCall(expression: ts.Expression): boolean {
  const call = ts.isAwaitExpression(expression) ? expression.expression : expression
  return (
    ts.isCallExpression(call) &&
    /^(?:token\.)?(?:check|must|establish|parseClaims|claims|jwts|bind|readIssuer)/.test(
      call.expression.getText(),
    )
  )
}

/** The zod objects whose members are checked nowhere else. */
const countedTypes = /^(?:SdJwtVcHeader|SdJwtVcClaims|KeyBindingClaims)$/

/** The name of the constant that a node is in. */
function nameOfDeclaration(node: ts.Node): string {
  const declaration = ts.findAncestor(node, ts.isVariableDeclaration)
  const outer = declaration && ts.findAncestor(declaration.parent, ts.isVariableDeclaration)
  return (outer ?? declaration)?.name.getText() ?? ''
}

/** A member of a zod object. */
function isClaim(node: ts.Node): boolean {
  if (!ts.isPropertyAssignment(node) || !ts.isCallExpression(node.parent.parent)) return false
  return (
    countedTypes.test(nameOfDeclaration(node)) &&
    /^z\.\w*[oO]bject$/.test(node.parent.parent.expression.getText())
  )
}

/** Bundles the corpus with all switches. */
export async function bundle(sources: Switchable[]): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: ['test/credentials/codecs/_corpus.ts'],
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    write: false,
    packages: 'external',
    // Files beside the sources are found from where the sources are.
    define: {
      'import.meta.url': JSON.stringify(pathToFileURL(resolve('test/credentials/codecs/_people.ts')).href),
    },
    plugins: [
      {
        name: 'mutants',
        setup(plugin) {
          // The corpus uses only the helpers that need no test runner.
          plugin.onResolve({ filter: /^vitest$/ }, () => ({ path: 'vitest', namespace: 'none' }))
          plugin.onLoad({ filter: /.*/, namespace: 'none' }, () => ({
            contents: 'export const expect = undefined',
          }))
          plugin.onLoad({ filter: /\.ts$/ }, ({ path }) => {
            const found = sources.find(({ file }) => file === path)
            return found && { contents: found.text, loader: 'ts' }
          })
        },
      },
    ],
  })
  return outputFiles[0]!.text
}
