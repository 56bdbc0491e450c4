/** Knowing a secret again by sight, without keeping it: for what is in memory only, and for as long as this process. */
import { hash, randomBytes } from 'node:crypto'

/** Makes digests that nobody can find a secret by, or tell secrets apart with, who does not know this process's salt. Base64. */
export function createSight(): (secret: string) => string {
  const salt = randomBytes(32).toString('base64')
  return (secret) => hash('sha256', salt + secret, 'base64')
}
