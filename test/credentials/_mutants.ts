/** Mutants of the verification: the same code with one single check switched off. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import ts from 'typescript'

/** The files whose every check is switched off in turn. */
export const files = [
  'credential.ts',
  'did-signature.ts',
  'json.ts',
  'jws.ts',
  'jwt-vc.ts',
  'jwt-vp.ts',
  'validity.ts',
  'sd-jwt/disclosure.ts',
  'sd-jwt/presentation.ts',
  'sd-jwt/sd-jwt.ts',
  'sd-jwt/unpack.ts',
].map((name) => resolve('src/credentials', name))

/** A check, by its place and its text, and the file without it. */
export type Mutant = { file: string; check: string; text: string }

/** Every statement of a file that throws, or that calls a function which checks, without it. */
export function mutantsOf(file: string): Mutant[] {
  const text = readFileSync(file, 'utf8')
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  const mutants: Mutant[] = []
  const visit = (node: ts.Node): void => {
    if (isRefusal(node) || isCheck(node)) {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart())
      const check = `${file.replace(/.*src\/credentials\//, '')}:${line + 1} ${node.getText().split('\n')[0]}`
      mutants.push({ file, check, text: `${text.slice(0, node.getStart())};${text.slice(node.getEnd())}` })
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return mutants
}

/** What is merely passed on (`throw error`) is no check. */
function isRefusal(node: ts.Node): node is ts.ThrowStatement {
  return ts.isThrowStatement(node) && /^(?:new VerificationError|malformed|new TypeError\(`|refus)/.test(node.expression.getText())
}

function isCheck(node: ts.Node): node is ts.ExpressionStatement {
  if (!ts.isExpressionStatement(node)) return false
  const call = ts.isAwaitExpression(node.expression) ? node.expression.expression : node.expression
  return ts.isCallExpression(call) && /^(?:check|must|establish)/.test(call.expression.getText())
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
            plugin.onLoad({ filter: /src\/credentials\// }, ({ path }) =>
              path === mutant.file ? { contents: mutant.text, loader: 'ts' } : undefined,
            )
        },
      },
    ],
  })
  return outputFiles[0]!.text
}
