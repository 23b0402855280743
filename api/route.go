package api

import "rewind/internal/relay"

// Route is one operation of the API: what is sent and what comes back.
type Route[Req, Resp any] struct {
	Method string
	Path   string
}

// The routes. GET has no effects.
var (
	Init         = Route[InitRequest, InitResponse]{"POST", "/v1/init"}
	Save         = Route[SaveRequest, SaveResponse]{"POST", "/v1/save"}
	List         = Route[ListRequest, ListResponse]{"GET", "/v1/list"}
	Density      = Route[DensityRequest, DensityResponse]{"GET", "/v1/density"}
	Paths        = Route[PathsRequest, PathsResponse]{"GET", "/v1/paths"}
	Grep         = Route[GrepRequest, GrepResponse]{"GET", "/v1/grep"}
	Blame        = Route[BlameRequest, BlameResponse]{"GET", "/v1/blame"}
	Bisect       = Route[BisectRequest, BisectResponse]{"GET", "/v1/bisect"}
	BisectStart  = Route[BisectStartRequest, BisectResponse]{"POST", "/v1/bisect/start"}
	BisectMark   = Route[BisectMarkRequest, BisectResponse]{"POST", "/v1/bisect/mark"}
	BisectReset  = Route[BisectResetRequest, BisectResetResponse]{"POST", "/v1/bisect/reset"}
	Entries      = Route[EntriesRequest, EntriesResponse]{"GET", "/v1/entries"}
	Show         = Route[ShowRequest, ShowResponse]{"GET", "/v1/show"}
	Diff         = Route[DiffRequest, DiffResponse]{"GET", "/v1/diff"}
	Compare      = Route[CompareRequest, CompareResponse]{"GET", "/v1/compare"}
	Checkout     = Route[CheckoutRequest, RestoreResponse]{"POST", "/v1/checkout"}
	Switch       = Route[SwitchRequest, RestoreResponse]{"POST", "/v1/switch"}
	Forward      = Route[ForwardRequest, RestoreResponse]{"POST", "/v1/forward"}
	LayOut       = Route[LayOutRequest, LayOutResponse]{"POST", "/v1/layout"}
	Undo         = Route[UndoRequest, RestoreResponse]{"POST", "/v1/undo"}
	Redo         = Route[UndoRequest, RestoreResponse]{"POST", "/v1/redo"}
	UndoRestore  = Route[UndoRestoreRequest, RestoreResponse]{"POST", "/v1/undo-restore"}
	Ops          = Route[OpsRequest, OpsResponse]{"GET", "/v1/ops"}
	Tag          = Route[TagRequest, TagResponse]{"POST", "/v1/tag"}
	Projects     = Route[ProjectsRequest, ProjectsResponse]{"GET", "/v1/projects"}
	Names        = Route[NamesRequest, NamesResponse]{"GET", "/v1/names"}
	Files        = Route[FilesRequest, FilesResponse]{"GET", "/v1/files"}
	Messages     = Route[MessagesRequest, MessagesResponse]{"GET", "/v1/messages"}
	Tags         = Route[TagsRequest, TagsResponse]{"GET", "/v1/tags"}
	Status       = Route[StatusRequest, StatusResponse]{"GET", "/v1/status"}
	Verify       = Route[VerifyRequest, VerifyResponse]{"GET", "/v1/verify"}
	Repair       = Route[RepairRequest, RepairResponse]{"POST", "/v1/repair"}
	Purge        = Route[PurgeRequest, PurgeResponse]{"POST", "/v1/purge"}
	GC           = Route[GCRequest, GCResponse]{"POST", "/v1/gc"}
	Config       = Route[ConfigRequest, ConfigResponse]{"GET", "/v1/config"}
	SetHooks     = Route[HooksRequest, HooksResponse]{"POST", "/v1/hooks"}
	Remove       = Route[RemoveRequest, RemoveResponse]{"POST", "/v1/remove"}
	Adopt        = Route[AdoptRequest, AdoptResponse]{"POST", "/v1/adopt"}
	Stores       = Route[StoresRequest, StoresResponse]{"GET", "/v1/stores"}
	JoinStore    = Route[JoinRequest, JoinResponse]{"POST", "/v1/stores/join"}
	RestoreStore = Route[RestoreStoreRequest, RestoreStoreResponse]{"POST", "/v1/stores/restore"}
	RemoveStore  = Route[RemoveStoreRequest, RemoveStoreResponse]{"POST", "/v1/stores/remove"}
	Worktrees    = Route[WorktreesRequest, WorktreesResponse]{"GET", "/v1/worktrees"}
	RemoveTree   = Route[RemoveWorktreeRequest, RemoveWorktreeResponse]{"POST", "/v1/worktrees/remove"}
	Validate     = Route[ValidateRequest, ValidateResponse]{"GET", "/v1/validate"}
	SetConfig    = Route[SetConfigRequest, ConfigResponse]{"POST", "/v1/config"}
	Sessions     = Route[SessionsRequest, SessionsResponse]{"POST", "/v1/sessions"}
	BringBack    = Route[BringBackRequest, BringBackResponse]{"POST", "/v1/sessions/restore"}
	Turns        = Route[TurnsRequest, TurnsResponse]{"GET", "/v1/turns"}
	Future       = Route[FutureRequest, FutureResponse]{"GET", "/v1/future"}
	MakeFork     = Route[ForkRequest, ForkResponse]{"POST", "/v1/fork"}
	MakeClone    = Route[CloneRequest, ForkResponse]{"POST", "/v1/clone"}
	Forks        = Route[ForksRequest, ForksResponse]{"GET", "/v1/forks"}
	Tree         = Route[TreeRequest, TreeResponse]{"GET", "/v1/tree"}
	ManageForks  = Route[ManageRequest, ManageResponse]{"POST", "/v1/forks"}
	PruneForks   = Route[PruneRequest, ManageResponse]{"POST", "/v1/forks/prune"}
	Pick         = Route[MergeRequest, RestoreResponse]{"POST", "/v1/pick"}
	Revert       = Route[MergeRequest, RestoreResponse]{"POST", "/v1/revert"}
	UI           = Route[UIRequest, UIResponse]{"POST", "/v1/ui"}
	Version      = Route[VersionRequest, VersionResponse]{"GET", "/v1/version"}

	Mend = Route[MendRequest, MendResponse]{"POST", "/v1/mend"}

	// These two are for clients of every version.
	DaemonStatus = Route[DaemonRequest, Daemon]{"GET", "/v1/daemon"}
	DaemonStop   = Route[DaemonRequest, Daemon]{"POST", relay.StopPath}
)

// CatPath is the route that answers with a file's bytes; its request is a CatRequest.
const CatPath = "/v1/cat"

// APIVersion is the version of the JSON objects, in every one of them that a command prints.
const APIVersion = 1

// StoreFormat is the format of the stores that the programs of this version make.
const StoreFormat = 1

// About is what programs of a version say of themselves.
func About(version string) VersionResponse {
	return VersionResponse{Version: version, API: APIVersion, StoreFormat: StoreFormat}
}

// HeaderProcess carries the process id of who waits for an answer, for those who ask what is at work.
const HeaderProcess = "Rewind-Process"

// Line is one line of a response.
type Line[Resp any] struct {
	Progress *Progress `json:"progress,omitempty"`
	Result   *Resp     `json:"result,omitempty"`
	Error    *Error    `json:"error,omitempty"`
	Damaged  *Error    `json:"damaged,omitempty"` // beside a result: the store is damaged, and the result is of what it still has
}
