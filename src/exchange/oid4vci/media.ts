/** The pictures of an issuer, which anyone reads by their digests. */
import { hash } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import * as z from 'zod'
import { maxPictureBytes, PictureError, readPicture } from '../../credentials/display/picture.ts'
import { pictureTypes } from '../../definitions/picture-bytes.ts'
import { Problem } from '../../foundation/problem.ts'
import type { AgentDb, AgentTx } from '../../foundation/storage/database.ts'
import { assertNotTransferred } from '../../foundation/storage/transferred.ts'
import { assertByteQuota } from '../../wallet/quotas.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { getOwnIssuer, identifierOf } from './issuers.ts'

const maxPictures = 20

/** So long a picture stays that no display names. */
const unusedMs = 600_000

export const IssuerPicture = z
  .object({
    uri: z.string().describe('Where wallets read the picture; for the members of `display`.'),
    integrity: z.string().describe('The digest of Subresource Integrity.'),
    mediaType: z.enum(pictureTypes).describe('By the bytes.'),
  })
  .meta({ id: 'IssuerPicture' })
export type IssuerPicture = z.infer<typeof IssuerPicture>

/** SHA-256 in hexadecimal. */
export const Digest = z.string().regex(/^[0-9a-f]{64}$/)

const pathOf = (base: string, issuerId: string) => `${identifierOf(base, issuerId)}/media/`

/** The digest of a picture of the issuer by its URI. */
export function digestOfUri(base: string, issuerId: string, uri: string): string | undefined {
  const path = pathOf(base, issuerId)
  return uri.startsWith(path) ? uri.slice(path.length) : undefined
}

/**
 * Stores a picture. The same bytes are one picture. The oldest pictures that nothing names make room.
 *
 * @throws {Problem} 404; 400 for bytes that are no picture, or that may not be shown; 409 for too many; 507
 */
export async function addPicture(
  { db, wallet }: { db: AgentDb; wallet: Wallet },
  issuerId: string,
  stream: AsyncIterable<Uint8Array>,
): Promise<IssuerPicture> {
  const bytes = await buffer(stream)
  await getOwnIssuer(db, wallet.id, issuerId)
  const { mediaType, integrity } = readOrRefuse(bytes, 'body')
  const row = {
    issuer_id: issuerId,
    digest: hash('sha256', bytes, 'hex'),
    wallet_id: wallet.id,
    media_type: mediaType,
    content: bytes.toString('base64'),
    created_at: new Date().toISOString(),
  }
  await assertByteQuota(wallet, row.content.length)
  await db.transaction().execute(async (tx) => {
    await assertNotTransferred(tx, wallet.id)
    await getOwnIssuer(tx, wallet.id, issuerId)
    await tx
      .insertInto('credential_media')
      .values(row)
      .onConflict((conflict) =>
        conflict.columns(['issuer_id', 'digest']).doUpdateSet({ created_at: row.created_at }),
      )
      .execute()
    await makeRoom(tx, issuerId)
  })
  return { uri: pathOf(wallet.env.urls.rest, issuerId) + row.digest, integrity, mediaType }
}

/** Reads a picture of a member of a request. @throws {Problem} 400 */
export function readOrRefuse(bytes: Uint8Array, member: string) {
  try {
    return readPicture(bytes)
  } catch (error) {
    if (error instanceof PictureError)
      throw new Problem('BadRequest', `${member}: the picture ${error.message}.`, { cause: error })
    throw error
  }
}

/** The largest body. A larger picture is refused with the limit of pictures. */
export const maxUploadBytes = 2 * maxPictureBytes

/** @throws {Problem} 409 if an issuer has too many pictures that are named or new */
async function makeRoom(tx: AgentTx, issuerId: string): Promise<void> {
  const own = tx.selectFrom('credential_media').where('issuer_id', '=', issuerId)
  const all = await own.select(['digest', 'created_at']).orderBy('created_at').execute()
  if (all.length <= maxPictures) return
  const named = await readTexts(tx, issuerId)
  const since = new Date(Date.now() - unusedMs).toISOString()
  const unused = all.filter(({ digest, created_at }) => created_at < since && !named.includes(digest))
  const removed = unused.slice(0, all.length - maxPictures).map(({ digest }) => digest)
  if (all.length - removed.length > maxPictures)
    throw new Problem(
      'Conflict',
      `The issuer has ${maxPictures} pictures, the most it may have. Take one out of a display, and repeat the request in ten minutes.`,
    )
  const media = tx.deleteFrom('credential_media').where('issuer_id', '=', issuerId)
  await media.where('digest', 'in', removed).execute()
}

/** All texts that may name a picture of an issuer. */
async function readTexts(tx: AgentTx, issuerId: string): Promise<string> {
  const issuers = await tx
    .selectFrom('credential_issuer')
    .select('display')
    .where('id', '=', issuerId)
    .execute()
  const configurations = await tx
    .selectFrom('credential_configuration')
    .select(['display', 'settings'])
    .where('issuer_id', '=', issuerId)
    .execute()
  const types = await tx
    .selectFrom('credential_type')
    .select('document')
    .where('issuer_id', '=', issuerId)
    .execute()
  return JSON.stringify([issuers, configurations, types])
}

type Stored = { mediaType: IssuerPicture['mediaType']; bytes: Buffer }

/** @throws {Problem} 404 */
export async function getPicture(db: AgentDb, issuerId: string, digest: string): Promise<Stored> {
  const picture = await findPicture(db, issuerId, digest)
  if (!picture) throw new Problem('NotFound', 'The issuer has no such picture.')
  return picture
}

export async function findPicture(
  db: AgentDb,
  issuerId: string,
  digest: string,
): Promise<Stored | undefined> {
  const row = await db
    .selectFrom('credential_media')
    .select(['media_type', 'content'])
    .where('issuer_id', '=', issuerId)
    .where('digest', '=', digest)
    .executeTakeFirst()
  return (
    row && {
      mediaType: z.enum(pictureTypes).parse(row.media_type),
      bytes: Buffer.from(row.content, 'base64'),
    }
  )
}
