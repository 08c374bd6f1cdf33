import { describeLog } from "../conformance.ts";
import driver from "./conformance-driver.ts";

describeLog("SQLite", driver, new URL("./conformance-driver.ts", import.meta.url).href);
