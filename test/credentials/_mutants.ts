/** Mutants of the verification: the same code with one single check switched off. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import ts from 'typescript'

/** The files whose every check is switched off in turn. */
export const files = [
  'credentials/credential.ts',
  'credentials/did-signature.ts',
  'credentials/json.ts',
  'credentials/jws.ts',
  'credentials/jwt-vc.ts',
  'credentials/jwt-vp.ts',
  'credentials/validity.ts',
  'credentials/sd-jwt/disclosure.ts',
  'credentials/sd-jwt/key-binding.ts',
  'credentials/sd-jwt/presentation.ts',
  'credentials/sd-jwt/sd-jwt.ts',
  'credentials/sd-jwt/unpack.ts',
  'verification/checks.ts',
  'verification/compliance.ts',
  'verification/jwt-token.ts',
  'verification/sd-jwt-compliance.ts',
  'verification/sd-jwt-token.ts',
  'verification/subject.ts',
].map((name) => resolve('src', name))

/** A check, by its place and its text, and the file without it. */
export type Mutant = { file: string; check: string; text: string }

/** A file without each statement in turn that throws or calls what checks, each function that is nothing else, and each claim that must be so. */
export function mutantsOf(file: string): Mutant[] {
  const text = readFileSync(file, 'utf8')
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  const mutants: Mutant[] = []
  const visit = (node: ts.Node): void => {
    const instead = isRefusal(node) || isCheck(node) ? ';' : isCheckingBody(node) ? 'undefined' : isClaim(node) ? '...{}' : undefined
    if (instead !== undefined) {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart())
      const check = `${file.replace(/.*src\//, '')}:${line + 1} ${node.getText().split('\n')[0]}`
      mutants.push({ file, check, text: text.slice(0, node.getStart()) + instead + text.slice(node.getEnd()) })
    }
    ts.forEachChild(node, visit)
  }
  ts.forEachChild(source, visit)
  return mutants
}

/** What is merely passed on (`throw error`) is no check. */
function isRefusal(node: ts.Node): node is ts.ThrowStatement {
  return ts.isThrowStatement(node) && /^(?:new VerificationError|malformed|new TypeError\(`|refus)/.test(node.expression.getText())
}

function isCheck(node: ts.Node): node is ts.ExpressionStatement {
  return ts.isExpressionStatement(node) && isCheckingCall(node.expression)
}

/** What a function returns that does nothing but check: `(token) => token.claims()`. */
function isCheckingBody(node: ts.Node): boolean {
  return ts.isArrowFunction(node.parent) && node.parent.body === node && ts.isExpression(node) && isCheckingCall(node)
}

function isCheckingCall(expression: ts.Expression): boolean {
  const call = ts.isAwaitExpression(expression) ? expression.expression : expression
  return (
    ts.isCallExpression(call) &&
    /^(?:token\.)?(?:check|must|establish|parseClaims|claims|jwts|bind|readIssuer)/.test(call.expression.getText())
  )
}

/** Where a claim that is missing here is missed by nothing else. */
const claimsCount = /verification\/sd-jwt-compliance|sd-jwt\/key-binding/

/** A member of a zod object. */
function isClaim(node: ts.Node): boolean {
  if (!ts.isPropertyAssignment(node) || !ts.isCallExpression(node.parent.parent)) return false
  return claimsCount.test(node.getSourceFile().fileName) && /^z\.\w*[oO]bject$/.test(node.parent.parent.expression.getText())
}

/** The corpus with a mutant in it, or without one, as one module. */
export async function bundle(mutant?: Mutant): Promise<string> {
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
        name: 'mutant',
        setup(plugin) {
          // The corpus uses its helpers alone, not what they do for tests.
          plugin.onResolve({ filter: /^vitest$/ }, () => ({ path: 'vitest', namespace: 'none' }))
          plugin.onLoad({ filter: /.*/, namespace: 'none' }, () => ({ contents: 'export const expect = undefined' }))
          if (mutant)
            plugin.onLoad({ filter: /src\/(?:credentials|verification)\// }, ({ path }) =>
              path === mutant.file ? { contents: mutant.text, loader: 'ts' } : undefined,
            )
        },
      },
    ],
  })
  return outputFiles[0]!.text
}
