/*!
 * The font Spleen 8x16 2.2.0 (https://github.com/fcambus/spleen): Latin-1, punctuation, arrows, box drawing and blocks. The triangles ► and ◄ are ours.
 *
 * Copyright (c) 2018-2026, Frederic Cambus
 * All rights reserved.
 *
 * Redistribution and use in source and binary forms, with or without
 * modification, are permitted provided that the following conditions are met:
 *
 *   * Redistributions of source code must retain the above copyright
 *     notice, this list of conditions and the following disclaimer.
 *
 *   * Redistributions in binary form must reproduce the above copyright
 *     notice, this list of conditions and the following disclaimer in the
 *     documentation and/or other materials provided with the distribution.
 *
 * THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS AND CONTRIBUTORS "AS IS"
 * AND ANY EXPRESS OR IMPLIED WARRANTIES, INCLUDING, BUT NOT LIMITED TO, THE
 * IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS FOR A PARTICULAR PURPOSE
 * ARE DISCLAIMED. IN NO EVENT SHALL THE COPYRIGHT HOLDER OR CONTRIBUTORS
 * BE LIABLE FOR ANY DIRECT, INDIRECT, INCIDENTAL, SPECIAL, EXEMPLARY, OR
 * CONSEQUENTIAL DAMAGES (INCLUDING, BUT NOT LIMITED TO, PROCUREMENT OF
 * SUBSTITUTE GOODS OR SERVICES; LOSS OF USE, DATA, OR PROFITS; OR BUSINESS
 * INTERRUPTION) HOWEVER CAUSED AND ON ANY THEORY OF LIABILITY, WHETHER IN
 * CONTRACT, STRICT LIABILITY, OR TORT (INCLUDING NEGLIGENCE OR OTHERWISE)
 * ARISING IN ANY WAY OUT OF THE USE OF THIS SOFTWARE, EVEN IF ADVISED OF THE
 * POSSIBILITY OF SUCH DAMAGE.
 */
import spleen from './spleen-8x16.json' with { type: 'json' }

/** Pixels of a character cell. */
export const [cellWidth, cellHeight] = [8, 16]

/** By character: a byte for each row from the top, the highest bit on the left. */
const glyphs = new Map(Object.entries(spleen).map(([char, hex]) => [char, Buffer.from(hex, 'hex')]))

/** Returns the rows of a character. Characters that the font lacks are drawn as a question mark. */
export function glyphOf(char: string): Uint8Array {
  return glyphs.get(char) ?? glyphs.get('?')!
}
