/**
 * What a configuration says about its claims, in the order in which wallets show them: what people call them,
 * and where their values come from.
 */
import * as z from 'zod'
import { svgIdPattern } from '../../credentials/display/svg.ts'
import { JsonValue } from '../../foundation/json.ts'
import { Locale } from '../../foundation/locale.ts'
import { Problem } from '../../foundation/problem.ts'
import { maxClaims, type StoredClaims } from './claims.ts'

const Path = z
  .array(z.union([z.string().min(1).max(255), z.int().nonnegative(), z.null()]))
  .min(1)
  .max(10)

export const ClaimSetting = z
  .object({
    path: Path.describe('A claims path: names of members, indexes, and null for all elements of an array.'),
    labels: z
      .record(Locale, z.string().trim().min(1).max(200))
      .exactOptional()
      .describe('What people call the claim, by language.'),
    svgId: z
      .string()
      .regex(svgIdPattern, 'is not a name of letters, digits and underscores')
      .exactOptional()
      .describe('The placeholder of the claim in SVG templates.'),
    from: z
      .enum(['log-in', 'source', 'presentation'])
      .exactOptional()
      .describe('Where the value comes from. Default: the offer.'),
    as: Path.exactOptional().describe('The name that the claim has there. Default: the path.'),
    value: JsonValue.exactOptional().describe('The value in every credential.'),
  })
  .meta({ id: 'ClaimSetting' })
export const ClaimSettings = z.array(ClaimSetting).min(1).max(maxClaims)
export type ClaimSettings = z.output<typeof ClaimSettings>

/** @throws {Problem} 400 for a claim that the schema does not have, and for what is there twice */
export function checkClaimSettings(settings: ClaimSettings, claims: StoredClaims): void {
  const refuse = (index: number, reason: string): never => {
    throw new Problem('BadRequest', `claims.${index}.${reason}.`)
  }
  const seen = new Set<string>()
  const isNew = (key: string) => !seen.has(key) && seen.add(key)
  for (const [index, { path, svgId, from, value }] of settings.entries()) {
    const shown = JSON.stringify(path).slice(0, 100)
    if (!claims.some((claim) => beginsWith(path, pathOf(claim))))
      refuse(index, `path: the schema has no property ${shown}`)
    if (!isNew(JSON.stringify(path))) refuse(index, `path: ${shown} is there twice`)
    if (svgId !== undefined && !isNew(svgId)) refuse(index, `svgId: ${svgId} is there twice`)
    if (from !== undefined && value !== undefined)
      refuse(index, 'value: the claim has another origin. Leave out `from` or `value`')
  }
}

/** The path of a property of the schema. */
const pathOf = ({ namespace, name }: StoredClaims[number]) =>
  namespace === undefined ? [name] : [namespace, name]

const beginsWith = (path: readonly unknown[], root: readonly string[]) =>
  root.every((name, index) => path[index] === name)

/** A claim as wallets read about it. */
export type DescribedClaim = {
  path: ClaimSettings[number]['path']
  /** Of a property of the schema. */
  stored?: StoredClaims[number]
  setting?: ClaimSettings[number]
}

/** The claims of a configuration in the order of its settings; those without a setting come last. */
export function describeClaims(claims: StoredClaims, settings: ClaimSettings = []): DescribedClaim[] {
  const key = (path: readonly unknown[]) => JSON.stringify(path)
  const byPath = new Map(claims.map((claim) => [key(pathOf(claim)), claim]))
  const first = settings.map((setting): DescribedClaim => {
    const stored = byPath.get(key(setting.path))
    return { path: setting.path, setting, ...(stored && { stored }) }
  })
  const named = new Set(settings.map(({ path }) => key(path)))
  const others = claims.filter((claim) => !named.has(key(pathOf(claim))))
  return [...first, ...others.map((stored) => ({ path: pathOf(stored), stored }))]
}
