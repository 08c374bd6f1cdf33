import * as z from "zod";

/** One thing that Corral needs or can use. */
export const finding = z.object({
  name: z.string(),
  /** `warning`: something does not work or is not as good; `failed`: agents cannot work. */
  state: z.enum(["ok", "warning", "failed"]),
  /** What there is. */
  found: z.string(),
  /** What it is for. */
  why: z.string(),
  /** What mends it; there unless it is ok. */
  fix: z.string().optional(),
});
export type Finding = z.infer<typeof finding>;

export const doctorReport = z.object({ findings: z.array(finding) });
export type DoctorReport = z.infer<typeof doctorReport>;
