/**
 * How a received credential looks: by the metadata of its type, whose digest it has, or else by those of the
 * issuer. They are read once, on receipt: later, reading them would tell the issuer when the credential is
 * used. A look earns no trust.
 */
import * as z from 'zod'
import { TypeMetadata } from '../../../credentials/codecs/sd-jwt/type-metadata.ts'
import { VerificationError } from '../../../credentials/codecs/verification-error.ts'
import { readTypeChain } from '../../../credentials/display/type-chain.ts'
import { formats } from '../../../credentials/formats/index.ts'
import { formatOfId } from '../../../definitions/format-names.ts'
import { ifValid, oneLine, parseForeign, validOnes } from '../../../foundation/foreign.ts'
import { UnreachableError } from '../../../foundation/net/unreachable-error.ts'
import { Problem } from '../../../foundation/problem.ts'
import type { Look } from '../../issuance/openid4vci.ts'
import { invalidIssue } from '../../issuance/refusals.ts'
import { type Caller, getBytes } from './caller.ts'
import type { ReceivedConfiguration } from './issuer-metadata.ts'
import type { OfferRecord } from './record.ts'

const [maxLocales, maxClaims, maxLength] = [20, 200, 200]

/** Drafts before -12 call the language `lang`. */
const Language = { locale: ifValid(z.string()), lang: ifValid(z.string()) }
const Text = ifValid(z.string().min(1))
const Colour = ifValid(z.string().regex(/^#[0-9a-fA-F]{6}$/))
const Logo = ifValid(z.looseObject({ alt_text: Text }))

const ForeignDisplay = ifValid(
  validOnes(
    z.looseObject({
      ...Language,
      name: z.string().min(1),
      description: Text,
      // Of issuers.
      logo: Logo,
      background_color: Colour,
      text_color: Colour,
      // Of types.
      rendering: ifValid(
        z.looseObject({
          simple: ifValid(z.looseObject({ logo: Logo, background_color: Colour, text_color: Colour })),
        }),
      ),
    }),
  ),
)
const ForeignLabels = ifValid(validOnes(z.looseObject({ ...Language, name: Text, label: Text })))

/** The display and the claims of a type, or of a configuration in the metadata of an issuer. */
const Described = z.looseObject({
  display: ForeignDisplay,
  claims: ifValid(
    validOnes(
      z.looseObject({
        path: z
          .array(z.union([z.string(), z.null(), z.int().nonnegative()]))
          .min(1)
          .max(32),
        display: ForeignLabels,
      }),
    ),
  ),
})

function toLook(described: unknown): Look {
  const { display = [], claims = [] } = parseForeign(Described, described)
  return {
    display: display.slice(0, maxLocales).map((each) => {
      const { name, description, rendering } = each
      const { logo, background_color: background, text_color: text } = rendering?.simple ?? each
      return {
        locale: tagOf(each),
        name: oneLine(name, maxLength),
        description: description === undefined ? undefined : oneLine(description, maxLength),
        logo: logo?.alt_text === undefined ? undefined : oneLine(logo.alt_text, maxLength),
        backgroundColor: background,
        textColor: text,
      }
    }),
    claims: claims.slice(0, maxClaims).map(({ path, display: labels = [] }) => ({
      path: path.map((part) => (typeof part === 'string' ? part.slice(0, maxLength) : part)),
      labels: labels.slice(0, maxLocales).flatMap((each) => {
        const name = each.label ?? each.name
        return name === undefined ? [] : [{ locale: tagOf(each), name: oneLine(name, maxLength) }]
      }),
    })),
  }
}

function tagOf({ locale, lang }: { locale?: string | undefined; lang?: string | undefined }) {
  const tag = locale ?? lang
  return tag === undefined ? undefined : oneLine(tag, 35)
}

/** The look by the metadata of the issuer. */
export function lookOf({ credential_metadata: about, display, claims }: ReceivedConfiguration): Look {
  return toLook({ display: about?.display ?? display, claims: about?.claims ?? claims })
}

/**
 * The look of a received credential. Metadata that cannot be read, or that are not those that the credential
 * has the digest of, are left out, and the look says so.
 *
 * @throws {Problem} `InvalidCredentialIssue` for a credential that its type metadata do not allow
 */
export async function readLook(
  caller: Caller,
  record: OfferRecord,
  credential: string,
): Promise<Look | undefined> {
  const { format, look } = record.receivedOffer
  const { typeMetadata } = formats[formatOfId(format)]
  const reference = typeMetadata?.referenceOf(credential)
  if (!typeMetadata || !reference || !/^https?:/.test(reference.vct)) return look
  const { vct, integrity } = reference
  const without = (note: string): Look => ({ ...(look ?? { display: [], claims: [] }), note })
  if (typeof integrity !== 'string')
    return without('the credential has no digest of its type metadata (vct#integrity)')
  let type: TypeMetadata
  try {
    type = await readTypeChain({ vct, integrity }, (url) => getBytes(caller, url))
  } catch (error) {
    const isExpected =
      error instanceof VerificationError || error instanceof UnreachableError || error instanceof Problem
    if (!isExpected) throw error
    return without(oneLine(error.message))
  }
  try {
    typeMetadata.check(credential, type)
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error
    throw invalidIssue(error.message, error)
  }
  const { display, claims } = toLook(type)
  return {
    display: display.length > 0 ? display : (look?.display ?? []),
    claims: claims.some(({ labels }) => labels.length > 0) ? claims : (look?.claims ?? claims),
  }
}
