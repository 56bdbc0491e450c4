/** Mutants of the verification: the same code with one single check switched off. All of them are in one module, so that one is a run and no build. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import ts from 'typescript'

/** The files whose every check is switched off in turn. */
export const files = [
  'credentials/constraints.ts',
  'credentials/did-signature.ts',
  'credentials/jws.ts',
  'credentials/jwt-vc.ts',
  'credentials/jwt-vp.ts',
  'credentials/validity.ts',
  'credentials/verify.ts',
  'credentials/sd-jwt/disclosure.ts',
  'credentials/sd-jwt/key-binding.ts',
  'credentials/sd-jwt/presentation.ts',
  'credentials/sd-jwt/sd-jwt.ts',
  'credentials/sd-jwt/unpack.ts',
  'verification/checks.ts',
  'verification/compliance.ts',
  'verification/token.ts',
].map((name) => resolve('src', name))

/** A check, by its place and its text, and whether it counts as its module is loaded rather than each time. */
export type Mutant = { check: string; atLoad: boolean }

/** What a file becomes: its checks, and its text, in which the one that `globalThis.mutant` names is switched off. */
export type Switchable = { file: string; text: string; mutants: Mutant[] }

/** A file with a switch around each statement that throws or calls what checks, each function that is nothing else, and each claim that must be so. */
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

/** How what a node says is said but for when something is so; undefined for what is no check. */
function switchOf(node: ts.Node): ((off: string, text: string) => string) | undefined {
  if (isRefusal(node) || isCheck(node)) return (off, text) => `{ if (!(${off})) ${text} }`
  if (isCheckingBody(node)) return (off, text) => `(${off} ? undefined : ${text})`
  return isClaim(node) ? (off, text) => `...(${off} ? {} : { ${text} })` : undefined
}

/** What is merely passed on (`throw error`) is no check. */
function isRefusal(node: ts.Node): node is ts.ThrowStatement {
  return (
    ts.isThrowStatement(node) &&
    /^(?:new VerificationError|malformed|new TypeError\(`|refus)/.test(node.expression.getText())
  )
}

function isCheck(node: ts.Node): node is ts.ExpressionStatement {
  return ts.isExpressionStatement(node) && isCheckingCall(node.expression)
}

/** What a function returns that does nothing but check: `(token) => token.claims()`. */
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

/** Where a claim that is missing here is missed by nothing else. */
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

/** The corpus with all the switches in it, as one module. */
export async function bundle(sources: Switchable[]): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: ['test/credentials/_corpus.ts'],
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    write: false,
    packages: 'external',
    // Files beside the sources are found from where the sources are.
    define: { 'import.meta.url': JSON.stringify(pathToFileURL(resolve('test/credentials/_people.ts')).href) },
    plugins: [
      {
        name: 'mutants',
        setup(plugin) {
          // The corpus uses its helpers alone, not what they do for tests.
          plugin.onResolve({ filter: /^vitest$/ }, () => ({ path: 'vitest', namespace: 'none' }))
          plugin.onLoad({ filter: /.*/, namespace: 'none' }, () => ({
            contents: 'export const expect = undefined',
          }))
          plugin.onLoad({ filter: /src\/(?:credentials|verification)\// }, ({ path }) => {
            const found = sources.find(({ file }) => file === path)
            return found && { contents: found.text, loader: 'ts' }
          })
        },
      },
    ],
  })
  return outputFiles[0]!.text
}
